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
  callPosition,
  turnOf,
} from "../tools/index.ts";
import { kindOf, mustFollow, type CallKind } from "./order-of.ts";

interface CallRuntime {
  signal?: AbortSignal;
  configurable?: Record<string, unknown>;
}

/** The fields of a `wrapToolCall` request that are used here. */
export interface CallRequest {
  toolCall: ToolCall;
  state: { messages: readonly BaseMessage[] };
  runtime: CallRuntime;
}

type Outcome = { result: CallResult } | { stop: unknown };

/** A promise with its resolve function. */
class Deferred<T> {
  resolve!: (value: T) => void;
  readonly promise = new Promise<T>((resolve) => {
    this.resolve = resolve;
  });
}

/** A call of a turn: `kind` is set when it arrives, `outcome` when it ends. */
class Slot {
  readonly call: ToolCall;
  /** Resolves when an outer middleware has announced the call. */
  readonly announced = new Deferred<void>();
  /** Resolves when the call enters the order, or when an outer middleware has answered it: then it has no kind. */
  readonly arrived = new Deferred<void>();
  isAnnounced = false;
  readonly ended = new Deferred<Outcome>();
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

/** Turns by the signal of their LangGraph step, which all tasks of the step share, and by message id. */
const turns = new WeakMap<object, Map<string, CallTurn>>();

/** The unanswered calls of one message, in their order. */
export class CallTurn {
  readonly #slots: readonly Slot[];
  #saved: Promise<readonly SavedWrite[]> | undefined;

  private constructor(calls: readonly ToolCall[]) {
    this.#slots = calls.map((call) => new Slot(call));
  }

  /** The turn of a call; undefined if it is the only call of its message. */
  static of({ toolCall, state, runtime }: CallRequest): CallTurn | undefined {
    const message = turnOf(state.messages, toolCall.id);
    if (!message || (message.tool_calls?.length ?? 0) < 2) return undefined;
    const step = runtime.signal ?? message;
    const stepTurns = turns.get(step) ?? new Map<string, CallTurn>();
    turns.set(step, stepTurns);
    const turn = stepTurns.get(message.id ?? "") ?? new CallTurn(openCalls(message, state.messages));
    stepTurns.set(message.id ?? "", turn);
    return turn;
  }

  /**
   * Announces that a call will arrive, however late: later calls wait for it. Call it before awaiting anything. Returns
   * a function to call if the call is answered without arriving.
   */
  announce({ toolCall }: CallRequest): () => void {
    const slot = this.#slotOf(toolCall, (one) => !one.isAnnounced);
    slot.announce();
    return () => slot.arrived.resolve();
  }

  /** Enters a call into the order. Call it before awaiting anything, or after `announce`. */
  enter({ toolCall, runtime }: CallRequest, kind: CallKind): OrderedCall {
    const slot = this.#slotOf(toolCall, (one) => one.kind === undefined);
    slot.arrive(kind, taskOf(runtime.configurable));
    keepEarlierResults(runtime.configurable, (id) => this.resultsBefore(id));
    let pending: Promise<ToolCall[]> | undefined;
    return {
      wait: () => (pending ??= this.#waitFor(slot, runtime)),
      end: (result) => slot.end({ result }),
      stop: (error) => slot.end({ stop: error }),
    };
  }

  /** The slot of a call, an open one if there is any. */
  #slotOf(toolCall: ToolCall, isOpen: (slot: Slot) => boolean): Slot {
    const candidates = this.#slots.filter(({ call }) => call.id === toolCall.id);
    const open = candidates.filter(isOpen);
    const at = callPosition(
      toolCall,
      open.map(({ call }) => call),
    );
    return open[at] ?? candidates[0] ?? new Slot(toolCall);
  }

  /** The results of the earlier calls that a call has waited for, in their order. */
  resultsBefore(id: string): CallResult[] {
    const at = this.#slots.findIndex(({ call }) => call.id === id);
    const kind = this.#slots[at]?.kind ?? "free";
    return this.#slots
      .slice(0, Math.max(at, 0))
      .filter((slot) => slot.kind !== undefined && mustFollow(kind, slot.kind))
      .flatMap(({ outcome }) => (outcome && "result" in outcome ? outcome.result : []));
  }

  async #waitFor(slot: Slot, { signal, configurable = {} }: CallRuntime): Promise<ToolCall[]> {
    const { kind = "change", call, task } = slot;
    const earlier = this.#slots.slice(0, Math.max(this.#slots.indexOf(slot), 0));
    if (kind === "free" || earlier.length === 0) return [];
    this.#saved ??= this.#restoreSaved(configurable);
    forgetOthersAnswer(await unlessAborted(this.#saved, signal), configurable);
    const failed: ToolCall[] = [];
    for (const other of earlier) {
      if (other.kind === undefined) await unlessAborted(arrival(other), signal);
      if (other.kind === undefined || !mustFollow(kind, other.kind)) continue;
      const outcome: Outcome = other.outcome ?? (await unlessAborted(other.ended.promise, signal));
      if ("result" in outcome) {
        if (isFailed(outcome.result, other.call)) failed.push(other.call);
        continue;
      }
      // In one task the first error counts, and that has to be the earlier call's.
      if (task !== undefined && task === other.task) throw outcome.stop;
      await keepAnswers(call.id ?? "", configurable);
      throw new GraphInterrupt([]);
    }
    return failed;
  }

  /** Ends the slots of calls that ended in an earlier invocation: LangGraph saved their results and runs only the rest. */
  async #restoreSaved(configurable: Record<string, unknown>): Promise<readonly SavedWrite[]> {
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

/** One call in the order of its turn. */
interface OrderedCall {
  /**
   * Waits until all earlier calls that this one must follow have ended, and returns those that failed. Interrupts the
   * task if one of them waits for the user: LangGraph runs both again on resume. Throws when the run is stopped.
   */
  wait: () => Promise<ToolCall[]>;
  end: (result: CallResult) => void;
  /** Ends a call that has thrown: it waits for the user, or the run ends. */
  stop: (error: unknown) => void;
}

/**
 * The longest wait for a call that was not announced: an outer middleware may have answered it. The calls of a step
 * start at the same time and in their order.
 */
const GRACE_MS = 250;

async function arrival({ announced, arrived }: Slot): Promise<void> {
  const timeout = sleep(GRACE_MS, true);
  const isLate = await Promise.race([announced.promise, arrived.promise, timeout]);
  if (!isLate) await arrived.promise;
}

function isFailed(result: CallResult, { id }: ToolCall): boolean {
  return messagesOf(result).some((message) => message.tool_call_id === id && message.status === "error");
}
