/** The description of the task tool; `{agents}` is the list of sub-agents, `{plan}` a sentence where there is a plan. */
export const TASK_DESCRIPTION = `Hand a self-contained job to a sub-agent with a fresh context: it knows only your description and returns one report. Use it for work that would flood your context or can run in parallel (several calls in one turn); not for small steps. Say what to do, what to return, and which files to use. title: 2-4 words for people. again: one that has ended (t1 is the first that you called, t2 the second): it continues with all it knows.{plan}
Sub-agents:
{agents}`;

export const TASK_PLAN =
  " todo_id: the plan item it works on; the report completes it, unless a line after the report says otherwise.";

export const GENERAL_PURPOSE_DESCRIPTION = "the same instructions and tools as you";

export const READER_DESCRIPTION = "only reads files and the web; cheapest";

export const READER_PROMPT = "Read what you are asked about, and report the facts and where they stand.";

/** Answered to a fork that wants to hand on its work: it has the tool only so that its requests begin as its caller's. */
export const FORK_REFUSAL = "you are a sub-agent yourself: do this work here.";

/** Stands above the rules of the caller's plan in a sub-agent's brief. */
export const RULES_FOR_ALL = "These conditions hold for the whole task, and so for you:";
