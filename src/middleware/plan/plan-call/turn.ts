import type { AIMessage, BaseMessage, ToolCall } from "@langchain/core/messages";
import {
  applyUpdate,
  applyWrite,
  diffTodos,
  isFinished,
  patchTodos,
  type Change,
  type Figures,
  type Issue,
  type Plan,
  type Policy,
  type Result,
  type Todo,
} from "../../../plan/index.ts";
import { readRules } from "../../../plan/read/index.ts";
import {
  nextMarks,
  type Mark,
  isSame,
  withFigures,
  type Ledger,
  type Move,
} from "../../../plan/todo/index.ts";
import { isWithheld, openCalls, callPosition, turnOf } from "../../tools/index.ts";
import { figuresAt, idleOf, moveOf, settleTurn } from "../ledger.ts";
import { isRepaired, lossInRepair } from "../messages/broken-calls.ts";
import { rememberSeen, unheardEdits } from "../seen.ts";
import type { PlanSetup } from "../setup.ts";
import {
  planFrom,
  readPlanState,
  type ApprovedCall,
  type Helper,
  type MemoryUpdate,
  type PlanMemory,
  type PlanState,
} from "../state.ts";
import { callsInFront } from "./finished-calls.ts";
import { verifyCompletions, type Verified } from "./verify.ts";

const REPAIRED_NOTE = "Repaired the broken JSON of the arguments.";

/** The result of one plan call of a turn. */
export interface Outcome {
  /** The plan before and after the call. Earlier calls of the turn are applied to both. */
  before: readonly Todo[];
  plan: Plan;
  /** The spending at the start of each running item. */
  marks: Record<string, Mark>;
  /** Changes of the items in progress by this call and earlier ones of the turn, by call. */
  moves: Record<string, Move>;
  /** Users' edits while the turn's calls were waiting. */
  edits: readonly Change[];
  /** Whether it is the turn's first plan call, which tells the model of these edits. */
  isFirst: boolean;
  /** The user's approval of the call. */
  approved: ApprovedCall | undefined;
  /** The rules after the call. */
  rules: readonly string[];
  /** Absent when nothing of the call was accepted. */
  accepted?: {
    /** The changes without actuals, for readers of the plan. */
    changes: Change[];
    /** The changes with actuals, for the graph state. */
    patch: Change[];
    /** The marks that the call set, and null for those that it removed. */
    marks: Record<string, Mark | null>;
    /** The call's change of the items in progress. */
    move?: Move;
    /** The ledger with the turn's spending up to this call. */
    ledger: Ledger;
    /** The rules, if the call changed them. */
    rules?: string[];
    /** For a new plan: the number of calls to other tools that had finished before it. */
    madeAt?: number;
    notes: string[];
  };
  /** The reasons why the call, or some of its completions, were refused. */
  issues: Issue[];
}

/**
 * The plan calls of one model turn, evaluated one after the other in the order of the message.
 *
 * LangGraph runs the calls of a turn in parallel, each on the state from before the turn. The engine is deterministic,
 * so each call can compute the result of the calls before it, which is the plan that it changes.
 */
export class Turns {
  readonly #setup: PlanSetup;
  /** The evaluations of each message, so that a verifier runs once per call, and not again for every later call. */
  readonly #running = new WeakMap<
    AIMessage,
    Pick<Run, "state" | "calls"> & { outcomes: Promise<Outcome>[] }
  >();

  /** The plan that was last announced in a turn. `covered`: the plan calls that it already included at first. */
  readonly #announced = new WeakMap<AIMessage, { state: PlanState; todos: Todo[]; covered: Set<unknown> }>();

  constructor(setup: PlanSetup) {
    this.#setup = setup;
  }

  /** Evaluates a plan call. One that is in no message, made by hand, is a turn of its own. */
  async evaluate(call: ToolCall, rawState: unknown, caller: Caller): Promise<Outcome> {
    const run = this.#run(call.id, rawState, caller);
    if (!run.message) run.calls = [call];
    const { calls } = run;
    const at = Math.max(callPosition(call, calls), 0);
    // Another middleware may have changed the arguments: those that arrive here count.
    if (isSame(calls[at]?.args, call.args)) return this.#outcome(run, at);
    return this.#start({ ...run, calls: calls.with(at, call) }, [], at);
  }

  /** Evaluates reports that are not plan calls, one after the other. `now`: the spending so far. */
  report(
    reports: readonly unknown[],
    rawState: unknown,
    { signal, now }: { signal: AbortSignal | undefined; now: Figures },
  ): Promise<Outcome[]> {
    const { name } = this.#setup.preset.tools.update!;
    const calls = reports.map((done): ToolCall => ({ name, args: { done } }));
    const outcomes: Promise<Outcome>[] = [];
    const run = { ...this.#run(undefined, rawState, { signal }), now, message: undefined, calls };
    void this.#start(run, outcomes, calls.length - 1);
    return Promise.all(outcomes);
  }

  /**
   * The plan to announce after these changes, when calls of one turn report in parallel. The first to report starts
   * from the plan that it found: after a resume, the calls before it have finished and do not report again.
   */
  advance(
    id: string,
    rawState: unknown,
    { before, changes }: { before: readonly Todo[]; changes: readonly Change[] },
  ): Todo[] {
    const run = this.#run(id, rawState, {});
    const { message, state } = run;
    const last = message && this.#announced.get(message);
    const current = last && isSame(last.state, state) ? last : undefined;
    if (current?.covered.has(id)) return current.todos;
    const todos = patchTodos(current?.todos ?? before, changes);
    const covered = current?.covered ?? new Set(callsBefore(id, run).map((call) => call.id));
    if (message) this.#announced.set(message, { state, todos, covered });
    return todos;
  }

  /** The plan for a call to another tool: after the plan calls before it in its message. */
  async standingBefore(id: string, rawState: unknown, caller: Caller): Promise<Standing> {
    const run = this.#run(id, rawState, caller);
    const earlier = callsBefore(id, run).length;
    const last = earlier > 0 ? await this.#outcome(run, earlier - 1) : undefined;
    return {
      plan: last?.plan ?? planFrom(run.state),
      rules: last?.rules ?? run.state.rules,
      marks: last?.marks ?? run.state.memory.marks,
      toolCalls: run.state.memory.tally.toolCalls,
      ledger: (helpers) => this.#ledger(run, { until: id, moves: last?.moves ?? {}, helpers }),
      edits: this.#edits(run),
      isTold: run.calls.length > 0,
    };
  }

  #run(id: string | undefined, rawState: unknown, { signal, writer, configurable }: Caller): Run {
    const state = readPlanState(rawState);
    const messages = (rawState as { messages?: BaseMessage[] } | undefined)?.messages ?? [];
    const message = turnOf(messages, id);
    const open = message ? planCalls(message, messages, this.#setup) : [];
    const calls = open.filter((call) => call.id === id || !isWithheld(message!, call));
    const raw = (rawState ?? {}) as Record<string, unknown>;
    return { signal, writer, configurable, raw, state, messages, message, calls };
  }

  /** The outcome of the plan call at an index of its turn. */
  #outcome(run: Run, at: number): Promise<Outcome> {
    const cached = run.message && this.#running.get(run.message);
    // Not by identity: LangGraph gives each call its own copy of the state.
    const isCurrent = cached && isSame(cached.calls, run.calls) && isSame(cached.state, run.state);
    const outcomes = isCurrent ? cached.outcomes : [];
    if (run.message && !isCurrent) {
      this.#running.set(run.message, { state: run.state, calls: run.calls, outcomes });
    }
    return this.#start(run, outcomes, at);
  }

  /** Evaluates calls up to an index, one after the other. Later calls wait: work before them may not have finished. */
  #start(run: Run, outcomes: Promise<Outcome>[], at: number): Promise<Outcome> {
    for (let next = outcomes.length; next <= at; next += 1) {
      const before = outcomes.at(-1);
      const outcome = (async () => this.#evaluate(run.calls[next]!, await before, run))();
      // Every call awaits its own outcome; that of a call that never runs must not end the process.
      void outcome.catch(() => undefined);
      outcomes.push(outcome);
    }
    return outcomes[at]!;
  }

  async #evaluate(call: ToolCall, previous: Outcome | undefined, run: Run): Promise<Outcome> {
    const { preset } = this.#setup;
    const plan = previous?.plan ?? planFrom(run.state);
    const marks = previous?.marks ?? run.state.memory.marks;
    const moves = previous?.moves ?? {};
    const before = plan.todos;
    const edits = previous?.edits ?? this.#edits(run);
    const isFirst = previous === undefined;
    const approved = approvedOf(run.state.memory, call.id, run.message);
    const current = previous?.rules ?? run.state.rules;
    const turn = { before, edits, isFirst, approved };
    const refused = (issues: Issue[]): Outcome => ({ ...turn, plan, marks, moves, rules: current, issues });
    const { memory } = run.state;
    const edited = approved?.edit?.args;
    const isWrite = edited !== undefined || call.name === preset.tools.write.name;
    if (isWrite && preset.parallelWrites === "refuse") {
      const writes = run.calls.filter((other) => other.name === call.name).length;
      if (writes > 1) return refused([parallelWrites(call.name, writes)]);
    }
    const policy = edited ? editedPolicy(preset.policy) : preset.policy;
    const apply = isWrite ? applyWrite : applyUpdate;
    const args = edited ?? call.args;
    const requested = apply(plan, args, policy);
    if (!requested.ok) return refused(requested.issues);
    const wasRepaired = !edited && isRepaired(call, run.message);
    const loss = wasRepaired ? lossInRepair(call.name, before, requested.changes) : undefined;
    if (loss) return refused([loss]);

    const { toolCalls } = memory.tally;
    const verified = await this.#verify(requested, { call, before, marks, run });
    const { unverified } = verified;
    const issues = [...busyItems(requested.changes, run.state), ...verified.issues];
    const ids = new Set(issues.flatMap(({ item }) => item ?? []));
    const isAccepted = ids.size === 0 && unverified.size === 0;
    const result = isAccepted ? requested : apply(plan, args, policy, { refused: ids, unverified });
    if (!result.ok || (ids.size > 0 && result.changes.length === 0)) return refused(issues);

    const rules = rulesAfter(readRules(args["rules"]), current, { isNew: isWrite && isNewPlan(before) });
    const isReset = result.changes[0]?.type === "plan-reset";
    const { todos: after } = result.plan;
    const move = moveOf(before, after, { memory, isReset });
    const until = call.id ?? String(Object.keys(moves).length);
    const allMoves = move ? { ...moves, [until]: move } : moves;
    const ledger = this.#ledger(run, { until, moves: allMoves });
    const todos = withFigures(after, ledger, this.#setup.now());
    const next = nextMarks({ before: isReset ? [] : before, after, marks, now: memory.tally });
    const patch: Change[] = isReset
      ? [{ type: "plan-reset" }, ...diffTodos([], todos)]
      : diffTodos(before, todos);
    return {
      ...turn,
      plan: { ...result.plan, todos },
      marks: next,
      moves: allMoves,
      rules: rules ?? current,
      accepted: {
        changes: result.changes,
        patch,
        marks: changedEntries(marks, next),
        ...(move && { move }),
        ...(rules && { rules }),
        ledger,
        ...(isNewPlan(before) && { madeAt: toolCalls }),
        notes: [...(wasRepaired ? [REPAIRED_NOTE] : []), ...result.notes],
      },
      issues,
    };
  }

  /** Runs the verifier on every completion of a call. */
  #verify(
    { plan: { todos }, changes }: Accepted,
    {
      call,
      before,
      marks,
      run,
    }: { call: ToolCall; marks: Outcome["marks"]; run: Run } & Pick<Outcome, "before">,
  ): Promise<Verified> {
    const { memory } = run.state;
    const { toolCalls } = memory.tally;
    // Work that is reported with a new plan was done before it.
    const madeAt = isNewPlan(before) ? toolCalls : memory.madeAt;
    return verifyCompletions(this.#setup, {
      changes,
      before,
      todos,
      memory: { ...memory, marks, madeAt },
      toolCalls,
      results: callsInFront(call.id, run, this.#setup.toolNames),
      messages: run.messages,
      state: run.raw,
      signal: run.signal,
    });
  }

  #edits({ state, messages, message }: Run): Change[] {
    // Without the message itself: the model had not seen its own calls when it made them.
    const earlier = message ? messages.slice(0, messages.indexOf(message)) : messages;
    return unheardEdits(state, earlier, this.#setup);
  }

  /** The ledger at the end of a call of the turn. */
  #ledger(
    { state, messages, message, writer, now }: Run,
    { until, moves, helpers = {} }: Pick<Outcome, "moves"> & { until: string; helpers?: Helpers },
  ): Ledger {
    const { memory } = state;
    const at = this.#setup.now();
    const idle = idleOf(this.#setup, memory, { writer });
    return settleTurn(state, {
      messages: message ? messages.slice(0, messages.indexOf(message) + 1) : [],
      now: now ?? figuresAt(memory.tally, { at, idle }),
      until,
      moves,
      helpers: { ...memory.helpers, ...helpers },
    });
  }
}

/** The issues of completed items that sub-agents are still working on. */
function busyItems(changes: readonly Change[], { memory }: PlanState): Issue[] {
  const busy = new Set(Object.values(memory.helpers).flatMap(({ item, spent }) => (spent ? [] : item)));
  return changes.flatMap((change): Issue[] => {
    if (change.type !== "todo-status" || change.to !== "completed" || !busy.has(change.id)) return [];
    const { id: item, to: sent } = change;
    const message = `Item ${item} is not accepted as completed: a sub-agent is still working on it.`;
    return [{ rule: "verification", item, field: "status", sent, valid: "its report", message }];
  });
}

/** The policy for a list that the user puts into the model's call: they may reopen and reword completed items. */
export function editedPolicy(policy: Policy): Policy {
  return { ...policy, completed: "editable" };
}

function approvedOf(
  { approved }: PlanMemory,
  id: string | undefined,
  message: AIMessage | undefined,
): ApprovedCall | undefined {
  return approved?.id === id && approved?.message === message?.id ? approved : undefined;
}

/** The shared parts of a plan's middleware. */
export interface PlanParts {
  setup: PlanSetup;
  turns: Turns;
}

/** The rules after a call; undefined if they do not change. A new plan has only the rules that were sent with it. */
function rulesAfter(
  sent: string[] | undefined,
  current: readonly string[],
  { isNew }: { isNew: boolean },
): string[] | undefined {
  const next = sent ?? (isNew ? [] : undefined);
  return next === undefined || isSame(next, current) ? undefined : next;
}

/** A plan at a moment within a turn. */
export interface Standing {
  plan: Plan;
  rules: readonly string[];
  marks: Record<string, Mark>;
  /** The number of calls to other tools that had finished before this turn. */
  toolCalls: number;
  /** The ledger at the end of the call, with the spending of sub-agents. */
  ledger: (helpers?: Helpers) => Ledger;
  /** Users' edits while the turn's calls were waiting. */
  edits: readonly Change[];
  /** Whether a plan call of the turn tells the model of these edits. */
  isTold: boolean;
}

type Helpers = Readonly<Record<string, Helper>>;

type Accepted = Extract<Result, { ok: true }>;

/** The context of a call. */
export interface Caller {
  signal?: AbortSignal;
  writer?: object;
  configurable?: Record<string, unknown>;
}

interface Run extends Caller {
  /** The spending until now. Default: from the state and the clock. */
  now?: Figures;
  state: PlanState;
  raw: Record<string, unknown>;
  messages: BaseMessage[];
  message: AIMessage | undefined;
  calls: ToolCall[];
}

/** The plan calls of a message that have no result yet. */
export function planCalls(
  message: AIMessage,
  messages: readonly BaseMessage[],
  { toolNames }: PlanSetup,
): ToolCall[] {
  return openCalls(message, messages).filter(({ name }) => toolNames.includes(name));
}

function callsBefore(id: string, { message, calls }: Run): ToolCall[] {
  const all = message?.tool_calls ?? [];
  const position = all.findIndex((call) => call.id === id);
  return calls.filter((call) => all.indexOf(call) < position);
}

/** The update of the memory after an accepted change. `seen`: the digests that the model knew before. */
export function rememberChange(
  {
    plan,
    changes,
    marks,
    madeAt,
  }: { plan: Plan } & Pick<NonNullable<Outcome["accepted"]>, "changes" | "marks" | "madeAt">,
  seen: PlanMemory["seen"],
): MemoryUpdate {
  const { nextId, firstId, retired, todos } = plan;
  return {
    ...rememberSeen(seen, todos),
    nextId,
    ...(firstId !== undefined && { firstId }),
    retired: [...retired],
    marks,
    ...(madeAt !== undefined && { madeAt }),
    ...(changes.some(isProgress) && { exits: 0 }),
  };
}

/** Whether a change is progress. Rewording is not: a model could put off its answer with it forever. */
function isProgress({ type }: Change): boolean {
  return type !== "todo-edit" && type !== "plan-reorder";
}

function parallelWrites(name: string, count: number): Issue {
  const valid = "one call per turn";
  const message = `${name} was called ${count} times in one turn. Each call replaces the whole list, so none was applied. Call it once with the complete list.`;
  return { rule: "parallel", field: name, sent: count, valid, message };
}

/** The new and changed entries of a record, and null for those that were removed. */
export function changedEntries<T>(
  before: Record<string, T>,
  after: Record<string, T>,
): Record<string, T | null> {
  const changed: Record<string, T | null> = {};
  for (const id of Object.keys(before)) if (!after[id]) changed[id] = null;
  for (const [id, mark] of Object.entries(after)) if (before[id] !== mark) changed[id] = mark;
  return changed;
}

/** Whether a list that is written now begins a new plan. */
export function isNewPlan(before: readonly Todo[]): boolean {
  return before.length === 0 || isFinished(before);
}
