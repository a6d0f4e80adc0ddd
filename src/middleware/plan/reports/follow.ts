import type { BaseMessage } from "@langchain/core/messages";
import {
  applyUpdate,
  diffTodos,
  isClosed,
  type Change,
  type Issue,
  type Plan,
  type Policy,
  type Result,
  type Todo,
} from "../../../plan/index.ts";
import { nextMarks, type Mark, withFigures, own, LEFT_OPEN } from "../../../plan/todo/index.ts";
import { turnOf } from "../../tools/index.ts";
import { announce } from "../announce.ts";
import type { Stage } from "../events.ts";
import { changedEntries, type PlanParts, type Standing } from "../plan-call/turn.ts";
import { verifyCompletions } from "../plan-call/verify.ts";
import { isClosedByPerson, rememberSeen, rememberStatus } from "../seen.ts";
import { readPlanState, todosUpdate, type Helper, type MemoryUpdate } from "../state.ts";

/** The context of a tool call. */
export interface CallContext extends Stage {
  /** The tool call's id. */
  id: string;
  state: unknown;
  signal: AbortSignal | undefined;
}

/** The end of work on an item, with the sub-agents that did it, by call. */
export type Ending = { helpers: Record<string, Helper> } & ({ ok: true } | { ok: false; reason: string });

/** The part of a graph update that moves a plan item. */
export interface FollowUpdate {
  todos: Todo[];
  _plan: MemoryUpdate;
}

/** A plan item that follows a tool call: in progress during the call, completed or noted at its end. */
export class FollowedTodo {
  readonly #parts: PlanParts;
  readonly #context: CallContext;
  readonly #item: StartedItem;

  private constructor(parts: PlanParts, context: CallContext, item: StartedItem) {
    this.#parts = parts;
    this.#context = context;
    this.#item = item;
  }

  /** Starts the item, or returns the reasons why it cannot be started. */
  static async start(
    parts: PlanParts,
    context: CallContext,
    { id, alone, call = context.id, reopens = false }: Following,
  ): Promise<FollowedTodo | Issue[]> {
    const { setup, turns } = parts;
    const standing = await turns.standingBefore(context.id, context.state, context);
    const decision = personsDecision(id, standing, context.state);
    if (decision) return [decision];
    const result = startedPlan(standing.plan, id, { policy: setup.preset.policy, reopens });
    if (!result.ok) return result.issues;
    const { plan: started, changes } = result;
    if (changes.length > 0) {
      const todos = turns.advance(context.id, context.state, { before: standing.plan.todos, changes });
      await announce(setup, context, { by: "harness", changes, todos });
    }
    const others = othersOn(id, call, context);
    return new FollowedTodo(parts, context, { id, standing, started, alone, others });
  }

  /** The update that starts the item, for work that continues after its call has a result. */
  async begun(): Promise<FollowUpdate> {
    const { id: item, started: plan } = this.#item;
    const { update } = await this.#close({ plan, sentence: "" }, { [this.#context.id]: { item } });
    return update;
  }

  /** Ends the item's work. Returns the update, and a sentence for the model if the item stays open. */
  async end(ending: Ending): Promise<{ update: FollowUpdate; sentence: string }> {
    const { policy } = this.#parts.setup.preset;
    const { id, started, alone, others } = this.#item;
    // Of several that end together, each knows only of its own end: `startNext` starts the next item.
    const rules = alone ? policy : { ...policy, idle: "allow" as const };
    const failed = (reason: string): { plan: Plan; sentence: string } => {
      const result = applyUpdate(started, { edit: [{ id, note: LEFT_OPEN + reason }] }, rules);
      // Several on one item do not know of each other: none of them leaves a note.
      const plan = result.ok && others.length === 0 ? result.plan : started;
      return { plan, sentence: `Todo ${id} is still in progress.` };
    };
    const { helpers } = ending;
    const open = withMark(helpers, { isOpen: true });
    if (!ending.ok) return this.#close(failed(ending.reason), open);
    const done = applyUpdate(started, { done: id }, rules);
    if (!done.ok) return this.#close(failed(done.issues[0]!.message), open);
    const toolCalls = Object.values(helpers).reduce((sum, { spent }) => sum + (spent?.toolCalls ?? 0), 0);
    const [issue] = await this.#verify(done.changes, done.plan, toolCalls);
    if (issue) {
      const { plan, sentence } = failed(issue.message);
      return this.#close({ plan, sentence: `${issue.message} ${sentence}` }, open);
    }
    if (others.length > 0) {
      const isLeftOpen = others.some(({ isOpen }) => isOpen);
      const sentence = isLeftOpen ? `Todo ${id} is still in progress: another sub-agent left it open.` : "";
      return this.#close({ plan: started, sentence }, withMark(helpers, { isShared: true }));
    }
    return this.#close({ plan: done.plan, sentence: "" }, helpers);
  }

  async #verify(changes: Change[], { todos }: Plan, spent: number): Promise<Issue[]> {
    const { id, started } = this.#item;
    const { state, signal } = this.#context;
    const raw = (state ?? {}) as Record<string, unknown>;
    const { memory } = readPlanState(state);
    const { toolCalls } = memory.tally;
    // The sub-agent's own calls count for the item, too, though they are not in the conversation.
    const mark: Mark = { toolCalls: toolCalls + 1 - spent };
    const { issues } = await verifyCompletions(this.#parts.setup, {
      changes,
      before: started.todos,
      todos,
      memory: { ...memory, marks: { [id]: mark } },
      toolCalls,
      results: [{ name: "task", args: { todo_id: id }, isFailed: false }],
      messages: (raw["messages"] ?? []) as BaseMessage[],
      state: raw,
      signal,
    });
    return issues;
  }

  async #close({ plan, sentence }: { plan: Plan; sentence: string }, helpers: Ending["helpers"]) {
    const { setup, turns } = this.#parts;
    const { id: item, standing, started, others } = this.#item;
    const { marks, toolCalls, ledger, edits, isTold } = standing;
    const { todos: before } = standing.plan;
    const { todos: running } = started;
    const after = withFigures(plan.todos, ledger(helpers), setup.now());
    const startMarks = nextMarks({ before, after: running, marks, now: { toolCalls } });
    const endMarks = nextMarks({
      before: running,
      after: plan.todos,
      marks: startMarks,
      // The call itself was work on its item: an item that starts now starts after it.
      now: { toolCalls: toolCalls + 1 },
    });
    const changes = diffTodos(running, plan.todos);
    if (changes.length > 0) {
      const { id, state } = this.#context;
      const todos = turns.advance(id, state, { before: running, changes: diffTodos(running, after) });
      await announce(setup, this.#context, { by: "harness", changes, todos });
    }
    const { memory } = readPlanState(this.#context.state);
    const { seen } = rememberSeen(memory.seen, after);
    const patch = diffTodos(before, after);
    // Without items of which only figures changed: other calls of the turn may have changed them.
    const itemChanges = diffTodos(before, plan.todos);
    const changedIds = new Set(itemChanges.flatMap((change) => ("id" in change ? change.id : [])));
    const unheardIds = new Set(isTold ? [] : edits.map(idOf));
    const seenUpdate = Object.fromEntries(
      Object.entries(seen ?? {}).flatMap(([id, now]) => {
        if (!changedIds.has(id)) return [];
        if (now === null || !unheardIds.has(id)) return [[id, now]];
        const digest = own(memory.seen, id);
        return digest ? [[id, rememberStatus(digest, now)]] : [];
      }),
    );
    const isOver = others.length > 0 || after.some((todo) => todo.id === item && isClosed(todo));
    const update: FollowUpdate = {
      todos: todosUpdate(after, patch),
      _plan: {
        seen: seenUpdate,
        marks: changedEntries(marks, endMarks),
        helpers,
        exits: 0,
        rounds: 0,
        nags: 0,
        ...(isOver && { startNext: true }),
      },
    };
    return { update, sentence };
  }
}

/** An item that is to follow a job. */
export interface Following {
  id: string;
  /** Whether no other call of the turn follows an item. */
  alone: boolean;
  /** The call that started the job. Default: this one. */
  call?: string;
  /** Whether to open a completed item again. Default false. */
  reopens?: boolean;
}

/** An item that was started. */
interface StartedItem extends Pick<Following, "id" | "alone"> {
  standing: Standing;
  /** The plan with the item in progress. */
  started: Plan;
  /** The other sub-agents on the item. */
  others: readonly Helper[];
}

/** Starts an item. If a completed one is opened again, items in progress that depend on it become pending. */
function startedPlan(
  plan: Plan,
  id: string,
  { policy, reopens }: { policy: Policy; reopens: boolean },
): Result {
  const isReopened = reopens && plan.todos.some((todo) => todo.id === id && todo.status === "completed");
  if (!isReopened) return applyUpdate(plan, { start: id }, policy);
  const waiting = plan.todos.filter(
    ({ status, dependsOn = [] }) => status === "in_progress" && dependsOn.includes(id),
  );
  const edit = waiting.map((todo) => ({ id: todo.id, status: "pending" }));
  return applyUpdate(plan, { start: id, edit }, { ...policy, completed: "editable" });
}

/** The other sub-agents on an item: at work, ended while one is at work, or called in the same turn. */
function othersOn(item: string, call: string, { id, state }: CallContext): Helper[] {
  const { helpers } = readPlanState(state).memory;
  const { messages = [] } = (state ?? {}) as { messages?: BaseMessage[] };
  const beside = (turnOf(messages, id)?.tool_calls ?? []).flatMap(({ id: other = "", args }) =>
    String(args["todo_id"]) === item && !own(helpers, other) ? [[other, { item }] as const] : [],
  );
  const all: (readonly [string, Helper])[] = [...Object.entries(helpers), ...beside];
  return all.flatMap(([other, helper]) => (other !== call && helper.item === item ? helper : []));
}

function withMark(helpers: Ending["helpers"], mark: Pick<Helper, "isShared" | "isOpen">): Ending["helpers"] {
  return Object.fromEntries(Object.entries(helpers).map(([call, helper]) => [call, { ...helper, ...mark }]));
}

/** The issue of an item that the user closed, or took out of progress while the call was waiting. */
function personsDecision(id: string, { plan, edits }: Standing, state: unknown): Issue | undefined {
  const { seen } = readPlanState(state).memory;
  const todo = plan.todos.find((other) => other.id === id);
  const [unheard] = edits.flatMap((edit) => (edit.type === "todo-status" && edit.id === id ? edit.to : []));
  const status = todo && isClosedByPerson(seen, todo) ? todo.status : unheard;
  if (!todo || !status || status === "in_progress") return undefined;
  const valid = isClosed({ ...todo, status })
    ? "Continue without it; add a new item for work that is still needed."
    : "Call again only if it is to be worked on all the same.";
  const message = `Item ${id} is ${status}: the user set it so. Nothing was started. ${valid}`;
  return { rule: "status", item: id, field: "start", sent: id, valid, message };
}

function idOf(change: Change): string | undefined {
  if (change.type === "todo-add") return change.todo.id;
  return "id" in change ? change.id : undefined;
}
