import { setTimeout as sleep } from "node:timers/promises";
import type { BaseMessage, ToolCall } from "@langchain/core/messages";
import { Command, GraphInterrupt } from "@langchain/langgraph";
import { unlessAborted } from "../../errors.ts";
import {
  forgetOthersAnswer,
  keepAnswers,
  savedResults,
  stepWrites,
  type SavedWrite,
  isResuming,
  taskOf,
} from "../../langgraph/index.ts";
import {
  messagesOf,
  type CallResult,
  keepEarlierResults,
  openCalls,
  placeOf,
  turnOf,
} from "../tools/index.ts";
import { kindOf, mustFollow, type CallKind } from "./order-of.ts";

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

/** The calls of one message that no result has answered, in the order given. */
export class CallTurn {
  readonly #slots: readonly Slot[];
  #saved: Promise<readonly SavedWrite[]> | undefined;

  private constructor(calls: readonly ToolCall[]) {
    this.#slots = calls.map((call) => new Slot(call));
  }

  /** The turn of a call; undefined for a call that is alone in it. */
  static of({ toolCall, state, runtime }: CallRequest): CallTurn | undefined {
    const message = turnOf(state.messages, toolCall.id);
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
    slot.arrive(kind, taskOf(runtime.configurable));
    keepEarlierResults(runtime.configurable, (id) => this.resultsBefore(id));
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
    const at = placeOf(
      wanted,
      open.map(({ call }) => call),
    );
    return open[at] ?? same[0] ?? new Slot(wanted);
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
  async #recall(configurable: Record<string, unknown>): Promise<readonly SavedWrite[]> {
    if (!isResuming(configurable)) return [];
    const { writes } = await stepWrites(configurable);
    for (const [id, update] of savedResults(writes)) {
      const [slot, ...others] = this.#slots.filter(({ call }) => call.id === id);
      if (!slot || others.length > 0 || slot.kind !== undefined) continue;
      slot.arrive(kindOf(slot.call.name, undefined, {}));
      slot.end({ result: new Command({ update }) });
    }
    return writes;
  }
}

/** The place of one call in its turn. */
export class CallPlace {
  readonly #slot: Slot;
  readonly #runtime: CallRuntime;
  readonly #earlier: readonly Slot[];
  readonly #recall: () => Promise<readonly SavedWrite[]>;
  #turn: Promise<ToolCall[]> | undefined;

  constructor(
    slot: Slot,
    runtime: CallRuntime,
    { earlier, recall }: { earlier: readonly Slot[]; recall: () => Promise<readonly SavedWrite[]> },
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
    forgetOthersAnswer(await unlessAborted(this.#recall(), signal), configurable);
    const failed: ToolCall[] = [];
    for (const slot of this.#earlier) {
      if (slot.kind === undefined) await unlessAborted(arrival(slot), signal);
      if (slot.kind === undefined || !mustFollow(kind, slot.kind)) continue;
      const outcome: Outcome = slot.outcome ?? (await unlessAborted(slot.ended.promise, signal));
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
 * The longest wait for a call that nobody has announced, in case that middleware further out has answered it: calls of a
 * step are started at the same time and in their order.
 */
const GRACE_MS = 250;

async function arrival({ announced, arrived }: Slot): Promise<void> {
  const late = sleep(GRACE_MS, true);
  const isLate = await Promise.race([announced.promise, arrived.promise, late]);
  if (!isLate) await arrived.promise;
}

function isFailed(result: CallResult, { id }: ToolCall): boolean {
  return messagesOf(result).some((message) => message.tool_call_id === id && message.status === "error");
}
