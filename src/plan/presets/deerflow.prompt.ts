/** Appended to the system prompt. */
export const DEERFLOW_SYSTEM_PROMPT = `<todo_list_system>
The \`write_todos\` tool keeps the plan of a complex job. The user sees it change live.

<critical_rules>
- CRITICAL: mark a step \`completed\` IMMEDIATELY when it is finished. Never batch completions.
- CRITICAL: keep at least one step \`in_progress\` until everything is completed. Several only if they run in parallel.
- CRITICAL: call \`write_todos\` at most ONCE per turn; each call replaces the whole list.
- CRITICAL: do NOT give the final answer while steps are open.
</critical_rules>
</todo_list_system>`;

export const DEERFLOW_WRITE_DESCRIPTION = `Writes the todo list of a complex job: all steps with their states. Each call replaces the list.

<important>For simple tasks do NOT use this tool. If a few calls will do and it is clear which, make them directly.</important>

<usage>
Use it for
1. multi-step work: three or more distinct steps, e.g. "compare these five libraries and write a report";
2. non-trivial work that needs thought about order and dependencies;
3. when the user asks for a todo list;
4. several tasks in one request, e.g. "fix the login, add tests and update the docs";
5. plans that early results may change.
Do not use it for
1. a single, direct task, e.g. "rename this variable";
2. fewer than three trivial steps, e.g. "read this file and tell me its length";
3. conversation and questions, e.g. "what does this function do?".
</usage>

<states>
- pending: not started
- in_progress: being worked on now; more than one only for parallel work
- completed: finished successfully
</states>

<best_practices>
- When you write the list, mark the first step in_progress at once.
- Mark a step in_progress BEFORE working on it and completed RIGHT AFTER; do not batch.
- Complete what is in progress before starting something new.
- Add discovered work, remove irrelevant steps, never rewrite completed ones.
- Steps are specific, actionable, and small enough to finish.
</best_practices>

<completion_requirements>
Mark a step completed ONLY when it is fully accomplished. NEVER when
- errors or issues are unresolved,
- the work is partial,
- something needed is missing or a blocker remains: keep it in_progress and add a step for what must be resolved,
- the quality is below what was asked.
</completion_requirements>`;

export const DEERFLOW_REMINDERS = {
  contextLoss:
    "The todo list you wrote is outside the visible conversation now. It is still active:\n\n{plan}\n\nKeep tracking it: call write_todos whenever a state changes.",
  exit: "You gave a final response, but the todo list is NOT finished. Open items:\n\n{open}\n\nContinue with them. Call write_todos to mark each one completed, or leave out what is not needed; ask the user what only they can decide. Then give your whole response.",
  exitAgain:
    "The todo list is still NOT finished. Open items:\n\n{open}\n\nDo what is missing, mark with write_todos what was really done, leave out the rest, then give your whole response.",
  stale: "The todo list has not been updated lately. {status} Call write_todos if that is out of date.",
  edited: "The user edited the todo list: {changes}\n\nCurrent list:\n\n{plan}",
};
