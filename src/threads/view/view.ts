import { NO_TOKENS, sumTokens } from "../../middleware/prices/index.ts";
import type { Todo } from "../../plan/index.ts";
import type { RunEvent, Usage } from "../events/index.ts";

/** An agent of the run: the main one, or a sub-agent. */
export interface AgentView {
  owner: string;
  name: string;
  todos: readonly Todo[];
  /** The conditions that hold for its whole plan. */
  rules: readonly string[];
  usage: Usage;
  /** Its running tool calls, by id. `output` is what a command has printed last. */
  tools: ReadonlyMap<string, { name: string; about: string; startedAt: number; output?: string }>;
  /** Set while the agent waits for the model's first words, or until `retry.at` for the next attempt. */
  waiting?: { since: number; retry?: { at: number; reason: string } };
  /** The item of its parent's plan that it does. */
  todoId?: string;
  startedAt: number;
  ended?: boolean;
}

/** The visible state of a run at a moment. */
export interface RunView {
  thread: string;
  model: string;
  dir?: string;
  startedAt: number;
  /** Agents by owner, in the order of their starts. */
  agents: ReadonlyMap<string, AgentView>;
  usage: Usage;
  /**
   * The start of each item in progress, later by the time in which nothing ran, and the tokens that were spent on it so
   * far, in earlier runs, too.
   */
  marks: ReadonlyMap<string, { at: number; tokens: number }>;
  /** The time that questions have waited for the user. */
  waitedMs: number;
  /** The time since which a question waits for the user. */
  askedAt?: number;
  /** The end of the run. */
  endedAt?: number;
  /** The ids of open questions. */
  asked: ReadonlySet<string>;
}

export const MAIN = "main";

export const EMPTY_VIEW: RunView = {
  thread: "",
  model: "",
  startedAt: 0,
  agents: new Map(),
  usage: NO_TOKENS,
  marks: new Map(),
  waitedMs: 0,
  asked: new Set(),
};

/** The view after an event. Pure. */
export function reduce(view: RunView, event: RunEvent): RunView {
  switch (event.type) {
    case "run-start": {
      const { thread, model, dir, at } = event;
      return { ...EMPTY_VIEW, thread, model, dir, startedAt: at, marks: marksAfterPause(view, at) };
    }
    case "plan-snapshot":
    case "plan-change": {
      const planned = withAgent(view, event, (agent) => ({
        ...agent,
        todos: event.todos,
        rules: event.rules ?? agent.rules,
      }));
      return event.owner === MAIN ? { ...planned, marks: marksOf(planned, event.at) } : planned;
    }
    case "model-start":
      return withAgent(afterWaiting(view, event.at), event, (agent) => ({
        ...agent,
        waiting: { since: event.at },
      }));
    case "model-retry": {
      const { at, seconds, reason } = event;
      const retry = { at: at + seconds * 1000, reason };
      return withAgent(view, event, (agent) => ({ ...agent, waiting: { since: at, retry } }));
    }
    case "text":
      // Only the first of many pieces changes the view.
      if (!view.agents.get(event.owner)?.waiting) return view;
      return withAgent(view, event, (agent) => ({ ...agent, waiting: undefined }));
    case "model-end":
      return withAgent(withSpent(view, event), event, (agent) => ({
        ...agent,
        usage: sumTokens(agent.usage, event.usage),
        waiting: undefined,
      }));
    case "tool-start":
      return withAgent(afterWaiting(view, event.at), event, (agent) => {
        const { name, about, at: startedAt } = event;
        return { ...agent, tools: new Map(agent.tools).set(event.call, { name, about, startedAt }) };
      });
    case "tool-output":
      return withAgent(view, event, (agent) => {
        const tool = agent.tools.get(event.call);
        if (!tool) return agent;
        return { ...agent, tools: new Map(agent.tools).set(event.call, { ...tool, output: event.text }) };
      });
    case "tool-end":
      return withAgent(view, event, (agent) => {
        const tools = new Map(agent.tools);
        tools.delete(event.call);
        return { ...agent, tools };
      });
    case "subagent-start":
      return withAgent(view, event, (agent) => ({
        ...agent,
        ended: false,
        ...(event.todoId !== undefined && { todoId: event.todoId }),
      }));
    case "subagent-end":
      return withAgent(view, event, (agent) => ({
        ...agent,
        ended: true,
        tools: new Map(),
        waiting: undefined,
      }));
    case "question":
      return { ...view, askedAt: view.askedAt ?? event.at, asked: new Set([...view.asked, event.id]) };
    case "answer": {
      const open = new Set([...view.asked].filter((id) => id !== event.id));
      return open.size > 0 ? { ...view, asked: open } : afterWaiting(view, event.at);
    }
    case "run-end":
      return { ...view, endedAt: event.at };
    case "thought":
    case "message":
    case "completion-refusal":
    case "notice":
    case "summary":
    case "summary-failure":
      return view;
  }
}

/** The view when work continues. Moves start times on, as no one worked while questions waited. */
function afterWaiting(view: RunView, at: number): RunView {
  const { askedAt, agents, marks, waitedMs } = view;
  if (askedAt === undefined) return view;
  const waited = at - askedAt;
  const later = [...marks].map(([id, mark]) => [id, { ...mark, at: mark.at + waited }] as const);
  const shifted = [...agents].map(
    ([owner, agent]) => [owner, { ...agent, startedAt: agent.startedAt + waited }] as const,
  );
  return {
    ...view,
    askedAt: undefined,
    asked: new Set(),
    waitedMs: waitedMs + waited,
    agents: new Map(shifted),
    marks: new Map(later),
  };
}

/** The working time of a run up to a moment, without the time that questions waited. */
export function workedMs({ startedAt, askedAt, waitedMs }: RunView, now: number): number {
  return Math.max(0, (askedAt ?? now) - startedAt - waitedMs);
}

export function tokensOf({ inputTokens, outputTokens }: Pick<Usage, "inputTokens" | "outputTokens">): number {
  return inputTokens + outputTokens;
}

/** The running sub-agents of an agent. */
export function helpersOf({ agents }: RunView, owner: string): AgentView[] {
  return [...agents.values()].filter((agent) => parentOf(agent.owner) === owner && !agent.ended);
}

function parentOf(owner: string): string | undefined {
  const end = owner.lastIndexOf("/");
  return end < 0 ? undefined : owner.slice(0, end);
}

/** A sub-agent's name, from its owner id. */
export function ownerName(owner: string): string {
  return owner.split("/").at(-1)!.split(":", 1)[0]!;
}

function withAgent(
  view: RunView,
  { owner, at }: { owner: string; at: number },
  change: (agent: AgentView) => AgentView,
): RunView {
  const agent = view.agents.get(owner) ?? {
    owner,
    name: ownerName(owner),
    todos: [],
    rules: [],
    usage: NO_TOKENS,
    tools: new Map(),
    startedAt: at,
  };
  return { ...view, agents: new Map(view.agents).set(owner, change(agent)) };
}

/** Keeps the marks of items that are still in progress, and adds those of new ones. */
function marksOf({ agents, marks }: RunView, at: number): RunView["marks"] {
  const running = agents.get(MAIN)!.todos.filter((todo) => todo.status === "in_progress");
  const markOf = ({ actuals }: Todo) => ({
    at: at - (actuals?.elapsedMs ?? 0),
    tokens: actuals ? tokensOf(actuals) : 0,
  });
  return new Map(running.map((todo) => [todo.id, marks.get(todo.id) ?? markOf(todo)]));
}

/** The marks at the start of a run, later by the time since the last one ended or asked. */
function marksAfterPause({ marks, askedAt, endedAt }: RunView, at: number): RunView["marks"] {
  const idle = at - (askedAt ?? endedAt ?? at);
  return new Map([...marks].map(([id, mark]) => [id, { ...mark, at: mark.at + idle }] as const));
}

/** Adds the tokens of an answer to the run, and to the items that it was for. */
function withSpent(view: RunView, { owner, usage }: { owner: string; usage: Usage }): RunView {
  const items = itemsOf(view, owner);
  const share = tokensOf(usage) / items.length;
  const marks = new Map(view.marks);
  for (const id of items) {
    const mark = marks.get(id)!;
    marks.set(id, { ...mark, tokens: mark.tokens + share });
  }
  return { ...view, usage: sumTokens(view.usage, usage), marks };
}

/**
 * The items in progress that an agent works on: a sub-agent on its own, the main agent on those without a sub-agent, or
 * on all if each has one. The ledger of the plan shares figures out in the same way.
 */
function itemsOf(view: RunView, owner: string): string[] {
  const running = [...view.marks.keys()];
  if (owner !== MAIN) {
    const [main, helper] = owner.split("/");
    const { todoId } = view.agents.get(`${main}/${helper}`) ?? {};
    return running.filter((id) => id === todoId);
  }
  const delegated = new Set(helpersOf(view, MAIN).map(({ todoId }) => todoId));
  const own = running.filter((id) => !delegated.has(id));
  return own.length > 0 ? own : running;
}
