import { isDeepStrictEqual } from "node:util";
import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import { Command, GraphInterrupt, isCommand } from "@langchain/langgraph";
import { INTERRUPT, type CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";
import { keepAnswers } from "../repeats/journal.ts";
import { stepWrites } from "../state/step-writes.ts";
import { kindOf, mustFollow, type CallKind } from "./order-of.ts";

export type CallResult = ToolMessage | Command;

/** The fields that are used of a call's runtime. */
interface CallRuntime {
  signal?: AbortSignal | undefined;
  configurable?: Record<string, unknown> | undefined;
}

/** A tool call as `wrapToolCall` gets it, as far as it is used here. */
export interface CallRequest {
  toolCall: ToolCall;
  state: { messages: readonly BaseMessage[] };
  runtime: CallRuntime;
}

type Outcome = { result: CallResult } | { stop: unknown };

/** A promise, and what resolves it. */
class Moment<T> {
  resolve!: (value: T) => void;
  readonly promise = new Promise<T>((resolve) => {
    this.resolve = resolve;
  });
}

/** A call of a turn: `kind` is known from the moment it arrives, `outcome` from its end. */
class Slot {
  readonly call: ToolCall;
  /** Middleware further out has begun with it. */
  readonly announced = new Moment<void>();
  /** Resolves when the call is in the order, or when outer middleware has answered it; it has no kind then. */
  readonly arrived = new Moment<void>();
  isAnnounced = false;
  readonly ended = new Moment<Outcome>();
  kind: CallKind | undefined;
  outcome: Outcome | undefined;
  /** The LangGraph task that runs it. */
  task: unknown;

  constructor(call: ToolCall) {
    this.call = call;
  }

  announce(): void {
    this.isAnnounced = true;
    this.announced.resolve();
  }

  arrive(kind: CallKind, task?: unknown): void {
    this.kind = kind;
    this.task = task;
    this.arrived.resolve();
  }

  end(outcome: Outcome): void {
    this.outcome = outcome;
    this.ended.resolve(outcome);
  }
}

/** The turns of each LangGraph step. All tasks of a step have one signal, and it goes with the step. */
const turns = new WeakMap<object, Map<string, CallTurn>>();
/** The turn that a task works for, by what LangGraph keeps for the task in memory. */
const turnOfTask = new WeakMap<object, CallTurn>();

/** The calls of one message that no result has answered, in the order given. */
export class CallTurn {
  readonly #slots: readonly Slot[];
  #saved: Promise<readonly CheckpointPendingWrite[]> | undefined;

  private constructor(calls: readonly ToolCall[]) {
    this.#slots = calls.map((call) => new Slot(call));
  }

  /** The turn of a call; undefined for a call that is alone in it. */
  static of({ toolCall, state, runtime }: CallRequest): CallTurn | undefined {
    const message = state.messages.findLast(
      (other): other is AIMessage =>
        AIMessage.isInstance(other) && (other.tool_calls ?? []).some(({ id }) => id === toolCall.id),
    );
    if (!message || (message.tool_calls?.length ?? 0) < 2) return undefined;
    const step = runtime.signal ?? message;
    const known = turns.get(step) ?? new Map<string, CallTurn>();
    turns.set(step, known);
    const turn = known.get(message.id ?? "") ?? new CallTurn(openCalls(message, state.messages));
    known.set(message.id ?? "", turn);
    return turn;
  }

  /**
   * Notes that a call will arrive, however late: later calls wait for it. To be called before anything is awaited.
   * Returns a function to be called if it is answered without arriving.
   */
  announce({ toolCall }: CallRequest): () => void {
    const slot = this.#slotOf(toolCall, (one) => !one.isAnnounced);
    slot.announce();
    return () => slot.arrived.resolve();
  }

  /** Takes the place of a call in the turn. To be called before anything is awaited, or after `announce`. */
  enter({ toolCall, runtime }: CallRequest, kind: CallKind): CallPlace {
    const slot = this.#slotOf(toolCall, (one) => one.kind === undefined);
    slot.arrive(kind, runtime.configurable?.["__pregel_task_id"]);
    const pad = runtime.configurable?.["__pregel_scratchpad"];
    if (pad) turnOfTask.set(pad, this);
    const at = this.#slots.indexOf(slot);
    return new CallPlace(slot, runtime, {
      earlier: this.#slots.slice(0, Math.max(at, 0)),
      recall: () => (this.#saved ??= this.#recall(runtime.configurable ?? {})),
    });
  }

  /** The slot of a call, an open one if there is any. */
  #slotOf(wanted: ToolCall, isOpen: (slot: Slot) => boolean): Slot {
    const same = this.#slots.filter(({ call }) => call.id === wanted.id);
    const open = same.filter(isOpen);
    // Some models give all calls of a turn one id; then the arguments tell them apart.
    const exact = open.find(
      ({ call }) => call.name === wanted.name && isDeepStrictEqual(call.args, wanted.args),
    );
    return exact ?? open[0] ?? same[0] ?? new Slot(wanted);
  }

  /** The results of the calls that one has followed, in their order. */
  resultsBefore(id: string): CallResult[] {
    const at = this.#slots.findIndex(({ call }) => call.id === id);
    const kind = this.#slots[at]?.kind ?? "free";
    return this.#slots
      .slice(0, Math.max(at, 0))
      .filter((slot) => slot.kind !== undefined && mustFollow(kind, slot.kind))
      .flatMap(({ outcome }) => (outcome && "result" in outcome ? outcome.result : []));
  }

  /** Finds the calls that ended in an earlier invocation: LangGraph has saved their results and runs only the others. */
  async #recall(configurable: Record<string, unknown>): Promise<readonly CheckpointPendingWrite[]> {
    if (configurable["__pregel_resuming"] !== true) return [];
    const { writes } = await stepWrites(configurable);
    for (const [id, result] of savedResults(writes)) {
      const [slot, ...others] = this.#slots.filter(({ call }) => call.id === id);
      if (!slot || others.length > 0 || slot.kind !== undefined) continue;
      slot.arrive(kindOf(slot.call.name, undefined, {}));
      slot.end({ result });
    }
    return writes;
  }
}

/** The results of the calls of its message that one has followed; undefined where nothing keeps the order. */
export function earlierResults(
  id: string,
  configurable: Record<string, unknown> | undefined,
): CallResult[] | undefined {
  const pad = configurable?.["__pregel_scratchpad"];
  return pad ? turnOfTask.get(pad)?.resultsBefore(id) : undefined;
}

/** The place of one call in its turn. */
export class CallPlace {
  readonly #slot: Slot;
  readonly #runtime: CallRuntime;
  readonly #earlier: readonly Slot[];
  readonly #recall: () => Promise<readonly CheckpointPendingWrite[]>;
  #turn: Promise<ToolCall[]> | undefined;

  constructor(
    slot: Slot,
    runtime: CallRuntime,
    {
      earlier,
      recall,
    }: { earlier: readonly Slot[]; recall: () => Promise<readonly CheckpointPendingWrite[]> },
  ) {
    this.#slot = slot;
    this.#runtime = runtime;
    this.#earlier = earlier;
    this.#recall = recall;
  }

  /**
   * Waits until all earlier calls that this one must follow have ended, and returns those that failed. Stops the task
   * where one of them waits for a person: LangGraph runs both again when it goes on. Throws when the run is stopped.
   */
  wait(): Promise<ToolCall[]> {
    return (this.#turn ??= this.#wait());
  }

  async #wait(): Promise<ToolCall[]> {
    const { kind = "change", call, task } = this.#slot;
    if (kind === "free" || this.#earlier.length === 0) return [];
    const { signal, configurable } = this.#runtime;
    forgetOthersAnswer(await unlessStopped(this.#recall(), signal), configurable);
    const failed: ToolCall[] = [];
    for (const slot of this.#earlier) {
      if (slot.kind === undefined) await unlessStopped(arrival(slot), signal);
      if (slot.kind === undefined || !mustFollow(kind, slot.kind)) continue;
      const outcome: Outcome = slot.outcome ?? (await unlessStopped(slot.ended.promise, signal));
      if ("result" in outcome) {
        if (isFailed(outcome.result, slot.call)) failed.push(slot.call);
        continue;
      }
      // In one task the first error counts, and that has to be the earlier call's.
      if (task !== undefined && task === slot.task) throw outcome.stop;
      await keepAnswers(call.id ?? "", configurable);
      throw new GraphInterrupt([]);
    }
    return failed;
  }

  end(result: CallResult): void {
    this.#slot.end({ result });
  }

  /** The call has thrown: it waits for a person, or the run ends. */
  stop(error: unknown): void {
    this.#slot.end({ stop: error });
  }
}

/**
 * LangGraph hands an answer without an interrupt's id to every task that asks. A call that has asked nothing yet, as it
 * waited for the one that did, has to ask first.
 */
function forgetOthersAnswer(
  writes: readonly CheckpointPendingWrite[],
  { __pregel_task_id: task, __pregel_scratchpad: pad }: Record<string, unknown> = {},
): void {
  const hasAsked = writes.some(([id, channel]) => id === task && channel === INTERRUPT);
  if (pad && !hasAsked) delete (pad as { nullResume?: unknown }).nullResume;
}

/**
 * The longest wait for a call that nobody has announced, in case that middleware further out has answered it: calls of a
 * step are started at the same time and in their order.
 */
const GRACE_MS = 250;

async function arrival({ announced, arrived }: Slot): Promise<void> {
  const isComing = await within(Promise.race([announced.promise, arrived.promise]), GRACE_MS);
  if (isComing) await arrived.promise;
}

/** Resolves to true if a promise is fulfilled in time. */
async function within(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

const STOPPED = Symbol("stopped");

/** The promise's value, unless the run is stopped before. */
async function unlessStopped<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  signal.throwIfAborted();
  const stopped = new Moment<typeof STOPPED>();
  const stop = (): void => stopped.resolve(STOPPED);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const value = await Promise.race([promise, stopped.promise]);
    signal.throwIfAborted();
    return value as T;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The calls of a message that nobody has answered before tools ran. */
function openCalls(message: AIMessage, messages: readonly BaseMessage[]): ToolCall[] {
  const answered = new Set(
    messages
      .slice(messages.indexOf(message) + 1)
      .flatMap((reply) => (ToolMessage.isInstance(reply) ? reply.tool_call_id : [])),
  );
  return (message.tool_calls ?? []).filter(({ id }) => id === undefined || !answered.has(id));
}

/** The results that the finished tasks of a step have written, by the id of their call. */
function savedResults(writes: readonly CheckpointPendingWrite[]): Map<string, Command> {
  const results = new Map<string, Command>();
  for (const [task, channel, value] of writes) {
    if (channel !== "messages") continue;
    const message = [value].flat().find((one) => ToolMessage.isInstance(one));
    if (!ToolMessage.isInstance(message)) continue;
    const update = writes.flatMap(([id, key, written]): [string, unknown][] =>
      id === task ? [[key, written]] : [],
    );
    results.set(message.tool_call_id, new Command({ update }));
  }
  return results;
}

function isFailed(result: CallResult, { id }: ToolCall): boolean {
  return messagesOf(result).some((message) => message.tool_call_id === id && message.status === "error");
}

/** The tool messages of a result. */
export function messagesOf(result: CallResult): ToolMessage[] {
  if (!isCommand(result)) return [result];
  return updatesOf(result, "messages")
    .flat()
    .filter((message) => ToolMessage.isInstance(message));
}

/** The writes of a result to a channel. */
export function updatesOf(result: CallResult, channel: string): unknown[] {
  if (!isCommand(result)) return [];
  const { update = {} } = result;
  const writes = Array.isArray(update) ? update : Object.entries(update);
  return writes.flatMap(([key, value]) => (key === channel && value !== undefined ? [value] : []));
}
