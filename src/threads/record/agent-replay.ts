import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { markOf } from "../../marks.ts";
import type { Summary } from "../../middleware/context-memory/index.ts";
import { sentBackAt } from "../../middleware/plan/index.ts";
import { unsaidTokens, usedTokens } from "../../middleware/prices/index.ts";
import { isFromUser, textOf } from "../../middleware/text/index.ts";
import { timeOf } from "../../middleware/tools/index.ts";
import { countTodos, diffTodos, isFinished, type Change, type Todo } from "../../plan/index.ts";
import { PLAN_TOOLS } from "../../plan/presets/index.ts";
import { isSame } from "../../plan/todo/index.ts";
import type { PartialList } from "../../storage/index.ts";
import { failuresIn, helpersIn, labelOf, titleOf, type Verdict, wholeAnswer } from "../../subagents/index.ts";
import type { RunEventBody, Usage } from "../events/index.ts";
import { withTasks } from "../thread/index.ts";
import { tokensOf } from "../view/index.ts";
import { detailsOf, endFields, resultOf, remindersIn, contentIn } from "./recorder.ts";

/** The saved state of an agent at a moment. */
export interface Frame {
  at: number;
  /** The time in milliseconds in which nothing ran in the thread so far. */
  idle: number;
  /** Whether the user made it, between two runs. */
  isEdit: boolean;
  messages: PartialList<BaseMessage>;
  todos: readonly Todo[];
  rules: readonly string[];
  /** The summary in requests from here on. */
  summary?: Summary;
  /** The tokens of answers that an undo took back before it, and when they were made. */
  takenBack?: { at: number; usage: Usage };
  /** The calls that ran from here, with the checkpoint namespaces of their sub-agents. */
  jobs: readonly { call: string; ns: string }[];
}

export interface TimedEvent {
  at: number;
  body: RunEventBody;
}

export const TASK = "task";

/** The replay of one agent: the difference from frame to frame, as events. */
export class AgentReplay {
  todos: readonly Todo[] = [];
  rules: readonly string[] = [];
  #summaries = 0;
  at = 0;
  readonly isInBackground: boolean;
  readonly #reminders: string[] = [];
  /** Its messages since the user's last one. */
  readonly #turn: AIMessage[] = [];
  readonly #owner: string;
  /** The ids of messages that were replayed. */
  readonly #seen: Set<string>;
  /** The number of messages in the last frame. */
  #length = 0;
  readonly #calls = new Map<string, { name: string; args: Record<string, unknown> }>();
  readonly #helpers = new Map<string, AgentReplay>();
  /** The calls that started sub-agents, by the ids with which these can be called again. */
  readonly #askedBy = new Map<string, string>();
  /** The models of sub-agents that have one of their own, by call. */
  readonly #models = new Map<string, string>();
  /** When calls ran, by call: a step is saved as a whole. */
  readonly #times = new Map<string, readonly [from: number, to: number]>();
  /** When the starts of calls were told, by call. */
  readonly #starts = new Map<string, number>();
  /** The items of sub-agents that ended in the current step, by call, until their ends are replayed. */
  readonly #running = new Map<string, string>();
  /** The task calls without a result: their items are in progress, which the saved plan does not show. */
  readonly #openTasks = new Map<string, Pick<ToolCall, "name" | "args">>();
  /** Calls that started no sub-agent, and the failures of sub-agents by call. */
  readonly #refused = new Set<string>();
  readonly #failures = new Map<string, Verdict>();

  /** `known`: ids of messages that a fork has from its caller. */
  constructor(
    owner: string,
    { known = [], isInBackground = false }: { known?: Iterable<string>; isInBackground?: boolean } = {},
  ) {
    this.#owner = owner;
    this.#seen = new Set(known);
    this.isInBackground = isInBackground;
  }

  get answer(): string {
    return wholeAnswer(this.#turn);
  }

  /** Reads the results of its sub-agents from the last messages. Call it before the first frame. */
  expect(messages: readonly BaseMessage[]): void {
    for (const message of messages) {
      for (const [call, why] of Object.entries(failuresIn(message))) this.#failures.set(call, why);
    }
    for (const message of messages) {
      if (!ToolMessage.isInstance(message)) continue;
      const time = timeOf(message);
      if (time && hasOwnTime(message)) this.#times.set(message.tool_call_id, time);
      if (message.name !== TASK) continue;
      for (const { id, model } of helpersIn([message]).values()) {
        this.#askedBy.set(id, message.tool_call_id);
        if (model !== undefined) this.#models.set(message.tool_call_id, model);
      }
      if (message.status !== "error") continue;
      const { tool_call_id: call } = message;
      if (!this.#failures.has(call)) this.#refused.add(call);
    }
  }

  /**
   * The events of a frame. `onForeign` receives messages that are neither the agent's answers nor tool results, and when
   * the model was asked with them.
   */
  *tell(
    frame: Frame,
    onForeign: (message: BaseMessage, askedAt: number) => Iterable<TimedEvent> = () => [],
  ): Generator<TimedEvent, void> {
    const { at, summary } = frame;
    let askedAt = this.at || at;
    this.at = at;
    if (frame.takenBack) yield* this.#takenBack(frame.takenBack);
    yield* this.#summarized(summary);
    const newMessages = this.#takeNew(frame);
    for (const message of this.#byEnd(newMessages)) {
      if (AIMessage.isInstance(message)) {
        const sentBack = sentBackAt(message, askedAt, at);
        yield* this.#answered(message, askedAt, sentBack ?? at);
        // The answer after one that was returned to the model is saved with it.
        askedAt = sentBack ?? askedAt;
      } else if (!ToolMessage.isInstance(message)) {
        this.#reminders.push(...remindersIn([message]));
        yield* onForeign(message, askedAt);
        if (isFromUser(message)) this.#turn.length = 0;
      }
      // A tool changes the plan before it ends.
      else {
        this.#running.delete(message.tool_call_id);
        this.#openTasks.delete(message.tool_call_id);
        const planEvents = this.#plan(frame, this.#endOf(message) ?? (this.#running.size > 0 ? askedAt : at));
        yield* [...planEvents, ...this.#decision(message), ...this.#result(message)];
      }
    }
    this.#running.clear();
    yield* this.#plan(frame);
  }

  /** The messages that no earlier frame had. Usually these are the last ones, and only those are read. */
  #takeNew({ messages, isEdit }: Frame): BaseMessage[] {
    const { length } = messages;
    const added = length - this.#length;
    this.#length = length;
    const newest = added < 0 || isEdit ? [] : messages.slice(Math.max(0, length - added - 1));
    const before = newest.length > added ? newest.shift() : undefined;
    // Elsewhere the list has changed in the middle.
    const isAppended =
      newest.length === added &&
      (before === undefined || this.#isKnown(before, length - added - 1)) &&
      newest.every((message, at) => !this.#isKnown(message, length - added + at));
    const from = isAppended ? length - added : 0;
    const all = isAppended ? newest : messages.slice();
    return all.filter((message, at) => {
      const isNew = !this.#isKnown(message, from + at);
      if (isNew) this.#seen.add(this.#idOf(message, from + at));
      return isNew;
    });
  }

  #isKnown(message: BaseMessage, index: number): boolean {
    return this.#seen.has(this.#idOf(message, index));
  }

  #idOf({ id }: BaseMessage, index: number): string {
    return id ?? `${this.#owner} ${index}`;
  }

  /** The same messages, with task results in the order in which the sub-agents ended: a step is saved as a whole. */
  #byEnd(messages: readonly BaseMessage[]): BaseMessage[] {
    const tasks = messages.filter((message) => this.#endOf(message) !== undefined);
    for (const message of tasks) {
      const { tool_call_id: call } = message as ToolMessage;
      const { todo_id: item } = this.#calls.get(call)!.args as { todo_id?: string | number };
      if (item !== undefined) this.#running.set(call, String(item));
    }
    const sorted = tasks.toSorted((one, other) => this.#endOf(one)! - this.#endOf(other)!);
    return messages.map((message) => (tasks.includes(message) ? sorted.shift()! : message));
  }

  /** The end of a foreground sub-agent, by the result of its task. */
  #endOf(message: BaseMessage): number | undefined {
    const helper = ToolMessage.isInstance(message) ? this.#helpers.get(message.tool_call_id) : undefined;
    return helper && !helper.isInBackground ? helper.at || this.at : undefined;
  }

  /** The event of a background sub-agent's end. */
  endOf(call: string): TimedEvent[] {
    const helper = this.#helpers.get(call);
    if (!helper) return [];
    const owner = helper.#owner;
    return [helper.#now({ type: "subagent-end", owner, name: this.#nameOf(call), ...this.#outcomeOf(call) })];
  }

  #nameOf(call: string): string {
    const name = this.#calls.get(call)?.args["subagent_type"];
    return typeof name === "string" ? name : "";
  }

  #outcomeOf(call: string): { ok: boolean; verdict: Verdict["result"]; error?: string } {
    const { result: verdict, reason: error } = this.#failures.get(call) ?? { result: "done" };
    return { ok: verdict === "done", verdict, error };
  }

  /** The sub-agent that a call started. */
  helper(call: string): AgentReplay | undefined {
    return this.#helpers.get(call);
  }

  /** The events of a summary, which comes before the answer that used it. */
  #summarized(summary: Summary | undefined): TimedEvent[] {
    const { number = 0, messages = 0, tokens = 0, at = 0, used } = summary ?? {};
    const isNew = number > this.#summaries;
    this.#summaries = number;
    const owner = this.#owner;
    const body = { type: "summary", owner, number, messages, tokens } as const;
    if (!isNew) return [];
    return [...(used ? [this.#asked(at), this.#unsaid(at, used)] : []), { at, body }];
  }

  #answered(message: AIMessage, askedAt: number, at: number): TimedEvent[] {
    const content = contentIn(message);
    this.#turn.push(message);
    const calls = message.tool_calls ?? [];
    const owner = this.#owner;
    const usage = unsaidTokens(message);
    return [
      { at: askedAt, body: { type: "model-start", owner, ...this.#takeReminders() } },
      ...(usage ? [this.#unsaid(askedAt, usage), this.#asked(askedAt)] : []),
      { at, body: { type: "model-end", owner, ...content, usage: usedTokens(message) } },
      ...calls.flatMap((call) => this.#call(call, calls)),
    ];
  }

  #asked(at: number): TimedEvent {
    return { at, body: { type: "model-start", owner: this.#owner } };
  }

  /** The end of a model call whose answer is not in the conversation. */
  #unsaid(at: number, usage: Usage): TimedEvent {
    return { at, body: { type: "model-end", owner: this.#owner, text: "", usage } };
  }

  #takenBack({ at, usage }: { at: number; usage: Usage }): TimedEvent[] {
    return tokensOf(usage) > 0 ? [this.#asked(at), this.#unsaid(at, usage)] : [];
  }

  /** The reminders before an answer. */
  #takeReminders(): { reminders?: string[] } {
    const reminders = this.#reminders.splice(0);
    return reminders.length > 0 ? { reminders } : {};
  }

  #call({ id: call = "", name, args }: ToolCall, turn: readonly ToolCall[]): TimedEvent[] {
    this.#calls.set(call, { name, args });
    const details = detailsOf({ name, call, input: JSON.stringify(args) });
    const at = Math.max(this.at, this.#times.get(call)?.[0] ?? 0);
    this.#starts.set(call, at);
    const start: TimedEvent = { at, body: { type: "tool-start", owner: this.#owner, ...details } };
    if (name !== TASK || this.#refused.has(call)) return [start];
    const { subagent_type: helper = "", description = "", todo_id: todoId } = args as Record<string, string>;
    const owner = `${this.#owner}/${labelOf(helper, titleOf(call, turn))}:${call}`;
    // A repeated call continues the earlier sub-agent.
    const before = this.#helpers.get(this.#askedBy.get(String(args["again"])) ?? "");
    const known = [...this.#seen, ...(before ? before.#seen : [])];
    this.#helpers.set(call, new AgentReplay(owner, { known, isInBackground: args["background"] === true }));
    const model = this.#models.get(call);
    const job = {
      owner,
      name: helper,
      description,
      model,
      todoId,
    };
    this.#openTasks.set(call, { name, args });
    const planEvents = this.#planChange(withTasks(this.todos, [{ name, args }]), {
      by: "harness",
      at: this.at,
    });
    return [start, ...planEvents, this.#now({ type: "subagent-start", ...job })];
  }

  /** The user's decision about a call, or answer to its question, as recorded in the result. */
  #decision(message: ToolMessage): TimedEvent[] {
    const { tool_call_id: id, name = "tool" } = message;
    const isAnswer = markOf(message, "user_answered");
    const decision = markOf(message, "user_decided");
    const answer = isAnswer === true ? textOf(message).replace(/^The user answers: /, "") : decision;
    if (answer === undefined) return [];
    const { question: text } = this.#calls.get(id)?.args ?? {};
    const question = isAnswer
      ? { kind: "clarification" as const, text: typeof text === "string" ? text : undefined }
      : PLAN_TOOLS.has(name)
        ? { kind: "plan-approval" as const }
        : { kind: "permission" as const, name };
    return [this.#now({ type: "answer", id, answer, question })];
  }

  #result(message: ToolMessage): TimedEvent[] {
    const { tool_call_id: call } = message;
    const { name, args } = this.#calls.get(call) ?? { name: message.name ?? "tool", args: {} };
    const result = resultOf(message);
    const details = detailsOf({ name, call, input: JSON.stringify(args) });
    const [, endedAt = this.at] = this.#times.get(call) ?? [];
    const end: TimedEvent = {
      // The answer may be saved after a call of it has ended.
      at: Math.max(this.#starts.get(call) ?? 0, Math.min(endedAt, this.at)),
      body: { type: "tool-end", owner: this.#owner, ...details, ...endFields(result) },
    };
    // A background sub-agent ends with its own replay.
    const helper = this.#helpers.get(call);
    if (!helper || helper.isInBackground) return [end];
    // It may have ended long before the rest of its step.
    const at = this.#endOf(message)!;
    const owner = helper.#owner;
    const outcome = this.#outcomeOf(call);
    const ending = result.ok || !outcome.ok ? outcome : { ok: false, verdict: "failed" as const };
    return [
      { at, body: { type: "subagent-end", owner, name: this.#nameOf(call), ...ending } },
      { ...end, at },
    ];
  }

  #plan({ todos, rules, isEdit }: Frame, at = this.at): TimedEvent[] {
    const newRules = isSame(this.rules, rules) ? undefined : [...rules];
    this.rules = rules;
    const runningIds = new Set(this.#running.values());
    const isRunning = todos.some(({ id }) => runningIds.has(id));
    const planned = isRunning
      ? todos.map((todo) => (runningIds.has(todo.id) ? this.#inProgress(todo) : todo))
      : todos;
    const open = [...this.#openTasks.values()];
    const current = open.length > 0 && !isEdit ? withTasks(planned, open) : planned;
    return this.#planChange(current, { by: isEdit ? "person" : "model", rules: newRules, at });
  }

  /** An item as it was while its sub-agent ran. */
  #inProgress({ id, content, dependsOn }: Todo): Todo {
    const before = this.todos.find((todo) => todo.id === id);
    return { ...(before ?? { id, content, dependsOn }), status: "in_progress" };
  }

  #planChange(
    todos: readonly Todo[],
    { by, rules, at }: { by: "person" | "model" | "harness"; rules?: string[]; at: number },
  ): TimedEvent[] {
    // Most frames have the plan of the frame before.
    const changes = todos === this.todos ? [] : planChanges(this.todos, todos);
    this.todos = todos;
    if (changes.length === 0 && !rules) return [];
    const plan = { changes, counts: countTodos([...todos]), todos: [...todos], rules };
    return [{ at, body: { type: "plan-change", owner: this.#owner, by, ...plan } }];
  }

  #now(body: RunEventBody): TimedEvent {
    return { at: this.at, body };
  }
}

/**
 * False for calls that end at another time than their results say: a plan call ends after its plan was saved, a sub-agent
 * has its own replay, and the user's time to decide is in no result.
 */
function hasOwnTime(message: ToolMessage): boolean {
  const { name = "" } = message;
  const isDecided =
    markOf(message, "user_decided") !== undefined || markOf(message, "user_answered") === true;
  return name !== TASK && !PLAN_TOOLS.has(name) && !isDecided;
}

/** The changes between two saved plans. A finished plan without any item left was replaced by a new one. */
function planChanges(before: readonly Todo[], after: readonly Todo[]): Change[] {
  const words = new Map(before.map(({ id, content }) => [id, content]));
  const isNew =
    isFinished(before) && after.length > 0 && after.every(({ id, content }) => words.get(id) !== content);
  return isNew ? [{ type: "plan-reset" }, ...diffTodos([], after)] : diffTodos(before, after);
}
