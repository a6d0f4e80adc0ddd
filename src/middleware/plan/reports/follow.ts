import type { BaseMessage } from "@langchain/core/messages";
import {
  applyUpdate,
  diffTodos,
  isClosed,
  renderStatus,
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
import { changedEntries, type PlanParts, type Standing, type Turns } from "../plan-call/turn.ts";
import { verifyCompletions } from "../plan-call/verify.ts";
import { isClosedByPerson, rememberSeen, rememberStatus } from "../seen.ts";
import type { PlanSetup } from "../setup.ts";
import { readPlanState, todosUpdate, type Helper, type MemoryUpdate } from "../state.ts";

/** The context of a tool call. */
export interface CallContext extends Stage {
  /** The tool call's id. */
  id: string;
  state: unknown;
  signal: AbortSignal | undefined;
}

/** The end of work on an item, and the sub-agents that did it, by call. */
export type Ending = { helpers: Record<string, Helper> } & ({ ok: true } | { ok: false; reason: string });

/** The part of a graph update that moves a plan item. */
export interface FollowUpdate {
  todos: Todo[];
  _plan: MemoryUpdate;
}

/** A plan item that follows the work of a tool call: in progress with it, completed or noted at its end. */
export class FollowedTodo {
  readonly #setup: PlanSetup;
  readonly #turns: Turns;
  readonly #context: CallContext;
  readonly #id: string;
  readonly #standing: Standing;
  readonly #started: Plan;
  readonly #alone: boolean;
  readonly #others: readonly Helper[];

  private constructor(
    { setup, turns }: PlanParts,
    context: CallContext,
    {
      id,
      standing,
      started,
      alone,
      others,
    }: { standing: Standing; started: Plan; others: Helper[] } & Pick<Following, "id" | "alone">,
  ) {
    this.#setup = setup;
    this.#turns = turns;
    this.#context = context;
    this.#id = id;
    this.#standing = standing;
    this.#started = started;
    this.#alone = alone;
    this.#others = others;
  }

  /** Starts the item, or says why it cannot be started. */
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

  /** The update that has the item in progress, for work that goes on after its call was answered. */
  async begun(): Promise<FollowUpdate> {
    const helpers = { [this.#context.id]: { item: this.#id } };
    const { update } = await this.#close({ plan: this.#started, sentence: "" }, helpers);
    return update;
  }

  /** Ends the item's work. Returns the update and a sentence for the model. */
  async end(ending: Ending): Promise<{ update: FollowUpdate; sentence: string }> {
    const { policy } = this.#setup.preset;
    // Among several that end together none can start the next, as each knows only of its own end: `startNext` does.
    const rules = this.#alone ? policy : { ...policy, idle: "allow" as const };
    const failed = (reason: string): { plan: Plan; sentence: string } => {
      const noted = applyUpdate(this.#started, { edit: [{ id: this.#id, note: LEFT_OPEN + reason }] }, rules);
      return {
        // Several on one item leave it alike: they do not know of each other.
        plan: noted.ok && this.#others.length === 0 ? noted.plan : this.#started,
        sentence: `Todo ${this.#id} is still in progress.`,
      };
    };
    const { helpers } = ending;
    const open = marked(helpers, { isOpen: true });
    if (!ending.ok) return this.#close(failed(ending.reason), open);
    const done = applyUpdate(this.#started, { done: this.#id }, rules);
    if (!done.ok) return this.#close(failed(done.issues[0]!.message), open);
    const toolCalls = Object.values(helpers).reduce((sum, { spent }) => sum + (spent?.toolCalls ?? 0), 0);
    const [issue] = await this.#verify(done.changes, done.plan, toolCalls);
    if (issue) {
      const { plan, sentence } = failed(issue.message);
      return this.#close({ plan, sentence: `${issue.message} ${sentence}` }, open);
    }
    if (this.#others.length > 0) {
      const isLeft = this.#others.some(({ isOpen }) => isOpen);
      const state = isLeft
        ? "is still in progress: another sub-agent left it open"
        : "is completed once its other sub-agents are done";
      const sentence = `Todo ${this.#id} ${state}.`;
      return this.#close({ plan: this.#started, sentence }, marked(helpers, { isShared: true }));
    }
    const status = this.#alone ? ` ${renderStatus(done.plan.todos)}` : "";
    return this.#close({ plan: done.plan, sentence: `Todo ${this.#id} is completed.${status}` }, helpers);
  }

  async #verify(changes: Change[], { todos }: Plan, spent: number): Promise<Issue[]> {
    const { state, signal } = this.#context;
    const raw = (state ?? {}) as Record<string, unknown>;
    const { memory } = readPlanState(state);
    const { toolCalls } = memory.tally;
    // Beside the call itself the item has the sub-agent's own, which are not in the conversation.
    const mark: Mark = { toolCalls: toolCalls + 1 - spent };
    const { issues } = await verifyCompletions(this.#setup, {
      changes,
      before: this.#started.todos,
      todos,
      memory: { ...memory, marks: { [this.#id]: mark } },
      toolCalls,
      results: [{ name: "task", args: { todo_id: this.#id }, isFailed: false }],
      messages: (raw["messages"] ?? []) as BaseMessage[],
      state: raw,
      signal,
    });
    return issues;
  }

  async #close({ plan, sentence }: { plan: Plan; sentence: string }, helpers: Ending["helpers"]) {
    const { plan: before, marks, toolCalls, ledger, edits, isTold } = this.#standing;
    const after = withFigures(plan.todos, ledger(helpers), this.#setup.now());
    const started = nextMarks({
      before: before.todos,
      after: this.#started.todos,
      marks,
      now: { toolCalls },
    });
    const ended = nextMarks({
      before: this.#started.todos,
      after: plan.todos,
      marks: started,
      // The call itself was work on its item: what starts now starts behind it.
      now: { toolCalls: toolCalls + 1 },
    });
    const changes = diffTodos(this.#started.todos, plan.todos);
    if (changes.length > 0) {
      const { id, state } = this.#context;
      const todos = this.#turns.advance(id, state, {
        before: this.#started.todos,
        changes: diffTodos(this.#started.todos, after),
      });
      await announce(this.#setup, this.#context, { by: "harness", changes, todos });
    }
    const { memory } = readPlanState(this.#context.state);
    const { seen } = rememberSeen(memory.seen, after);
    const patch = diffTodos(before.todos, after);
    // Not those of which only figures changed: others of the turn may have changed them.
    const moved = diffTodos(before.todos, plan.todos);
    const touched = new Set(moved.flatMap((change) => ("id" in change ? change.id : [])));
    const unheard = new Set(isTold ? [] : edits.map(idOf));
    const told = Object.fromEntries(
      Object.entries(seen ?? {}).flatMap(([id, now]) => {
        if (!touched.has(id)) return [];
        if (now === null || !unheard.has(id)) return [[id, now]];
        const known = own(memory.seen, id);
        return known ? [[id, rememberStatus(known, now)]] : [];
      }),
    );
    const isOver = this.#others.length > 0 || after.some((todo) => todo.id === this.#id && isClosed(todo));
    const update: FollowUpdate = {
      todos: todosUpdate(after, patch),
      _plan: {
        seen: told,
        marks: changedEntries(marks, ended),
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
  /** No other call of the turn follows an item. */
  alone: boolean;
  /** The call that started the job. Default: the one at hand. */
  call?: string;
  /** A completed item is opened again. */
  reopens?: boolean;
}

/** Starts an item. Where a completed one is opened again, what is in progress and waits for it is pending again. */
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

/** The other sub-agents on an item: at work, ended beside one that is at work, or called in the same turn. */
function othersOn(item: string, call: string, { id, state }: CallContext): Helper[] {
  const { helpers } = readPlanState(state).memory;
  const { messages = [] } = (state ?? {}) as { messages?: BaseMessage[] };
  const beside = (turnOf(messages, id)?.tool_calls ?? []).flatMap(({ id: other = "", args }) =>
    String(args["todo_id"]) === item && !own(helpers, other) ? [[other, { item }] as const] : [],
  );
  const all: (readonly [string, Helper])[] = [...Object.entries(helpers), ...beside];
  return all.flatMap(([other, helper]) => (other !== call && helper.item === item ? helper : []));
}

function marked(helpers: Ending["helpers"], mark: Pick<Helper, "isShared" | "isOpen">): Ending["helpers"] {
  return Object.fromEntries(Object.entries(helpers).map(([call, helper]) => [call, { ...helper, ...mark }]));
}

/** The refusal for an item that a person closed, or set otherwise than in progress while the call was waiting. */
function personsDecision(id: string, { plan, edits }: Standing, state: unknown): Issue | undefined {
  const { seen } = readPlanState(state).memory;
  const todo = plan.todos.find((other) => other.id === id);
  const [unheard] = edits.flatMap((edit) => (edit.type === "todo-status" && edit.id === id ? edit.to : []));
  const status = todo && isClosedByPerson(seen, todo) ? todo.status : unheard;
  if (!todo || !status || status === "in_progress") return undefined;
  const valid = isClosed({ ...todo, status })
    ? "Go on without it; add a new item for work that is still needed."
    : "Call again only if it is to be worked on all the same.";
  const message = `Item ${id} is ${status}: the user set it so. Nothing was started. ${valid}`;
  return { rule: "status", item: id, field: "start", sent: id, valid, message };
}

function idOf(change: Change): string | undefined {
  if (change.type === "todo-add") return change.todo.id;
  return "id" in change ? change.id : undefined;
}
