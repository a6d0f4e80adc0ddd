import {
  ERROR,
  INTERRUPT,
  RESUME,
  SCHEDULED,
  uuid5,
  type CheckpointPendingWrite,
} from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../errors.ts";
import { isRecord } from "../plan/read/index.ts";
import { callersOf, lastAsked, stepOf, type Step } from "./step-writes.ts";
import { isResuming, scratchpadOf } from "./task.ts";

/** The record of a call that has started, kept until its step is over. */
interface Entry {
  task: string;
  call: string;
  /** How often it has started; 0 for a call that paused to ask a question of its own. */
  times: number;
  /** Whether the user was asked for consent to it and agreed. */
  wasAsked?: boolean;
  /** Whether the user has answered its question, and it waits for earlier calls. */
  isAnswered?: boolean;
  /** Its progress when its run was stopped; absent after a kill. */
  stopped?: StoppedCall;
}

/** A call's progress when its run was stopped. */
export interface StoppedCall {
  /** In milliseconds. */
  ran: number;
  printed?: string;
}

/** What earlier invocations of a step left unfinished. */
export interface Unended {
  /** The ids of calls that began, and neither ended nor paused to ask. */
  calls: ReadonlySet<string>;
  /** How often this call has started before. */
  times: number;
  /** The value of the question that this call last stopped with. */
  asked: unknown;
  /** The ids of calls that the user was asked for consent to. */
  consents: ReadonlySet<string>;
  /** Whether LangGraph has saved answers for it. */
  hasAnswers: boolean;
  /** The progress of this call when it was last stopped. */
  stopped?: StoppedCall;
}

/** The ids of calls that began in this invocation, by the scratchpad of their task. */
const startedCalls = new WeakMap<object, Set<string>>();

/**
 * The record that a call has started. It is saved with the writes of the step's tasks, under an id that belongs to no
 * task: LangGraph ignores it, and every checkpointer keeps it.
 */
export class CallRecord {
  readonly #call: string;
  readonly #step: Step;
  readonly #configurable: Record<string, unknown>;
  #times = 0;
  #wasAsked = false;
  /** The steps that record it, from the outermost to its own. */
  #steps: readonly Step[] = [];

  private constructor(call: string, step: Step, configurable: Record<string, unknown>) {
    this.#call = call;
    this.#step = step;
    this.#configurable = configurable;
  }

  /** The record of a call, from its task's configuration; undefined without a checkpointer. */
  static of(call: string, configurable: Record<string, unknown> = {}): CallRecord | undefined {
    const step = stepOf(configurable);
    return step && new CallRecord(call, step, configurable);
  }

  /** What is left unfinished of the step; undefined if it has not started before. */
  async unended(): Promise<Unended | undefined> {
    if (this.#hasBegun()) return undefined;
    // Only the first step of an invocation can have started before, and LangGraph marks it.
    if (!isResuming(this.#configurable)) return undefined;
    const { task } = this.#step;
    const { writes, before } = await this.#read();
    const current = unendedOf(writes);
    // Some models give all calls of a turn the same id; then the task tells them apart.
    const candidates = [...current.filter((entry) => entry.task === task), ...before];
    const entries = candidates.filter(({ call }) => call === this.#call);
    this.#times = Math.max(0, ...entries.map(({ times }) => times));
    const { stopped } = entries.find(({ times }) => times === this.#times) ?? {};
    return {
      ...(stopped && { stopped }),
      calls: new Set([...current, ...before].map(({ call }) => call)),
      times: this.#times,
      asked: lastAsked(writes, task),
      consents: consentsOf(writes),
      hasAnswers: writes.some(([id, channel]) => id === task && channel === RESUME),
    };
  }

  /**
   * Records the beginning of a call, before any of its work. If the user `wasAsked` about it, the callers' steps record
   * it too, because they keep the question.
   */
  async begin({ wasAsked }: { wasAsked: boolean }): Promise<void> {
    if (this.#hasBegun()) return;
    this.#wasAsked = wasAsked;
    this.#steps = [...(wasAsked ? callersOf(this.#configurable) : []), this.#step];
    // Its own step records it first and forgets it last: a record that only callers have would hide the question when it
    // is asked again, and no one could answer it.
    for (const step of this.#steps.toReversed()) {
      await this.#put(step, { task: step.task, call: this.#call, times: this.#times + 1 });
    }
    const pad = scratchpadOf(this.#configurable)!;
    startedCalls.set(pad, (startedCalls.get(pad) ?? new Set()).add(this.#call));
  }

  /** Whether it began in this invocation: an outer middleware may retry the call, or record it as well. */
  #hasBegun(): boolean {
    return startedCalls.get(scratchpadOf(this.#configurable)!)?.has(this.#call) ?? false;
  }

  /** Records the progress of a call when its run is stopped. */
  async stop(stopped: StoppedCall): Promise<void> {
    const { task } = this.#step;
    await this.#put(this.#step, { task, call: this.#call, times: this.#times + 1, stopped });
  }

  /** Records that a call paused to ask: it will run again from its beginning. */
  async pause(): Promise<void> {
    const { task } = this.#step;
    const consent = this.#wasAsked ? { task, call: this.#call, times: 0, wasAsked: true } : null;
    for (const step of this.#steps) await this.#put(step, step === this.#step ? consent : null);
  }

  async #put({ saver, config, task }: Step, entry: Entry | null): Promise<void> {
    try {
      await saver.putWrites(config, [[SCHEDULED, entry]], uuid5(this.#call, task));
    } catch (cause) {
      if (HarnessError.from(cause)) throw cause;
      const message = `The start of a tool call could not be saved, so the call was not made: ${String(cause)}`;
      throw new HarnessError("storage-failed", message, { cause });
    }
  }

  /** Reads the writes of the step, and the unfinished calls of the steps that edits of the state have replaced. */
  async #read(): Promise<{ writes: readonly CheckpointPendingWrite[]; before: Entry[] }> {
    const { saver, config } = this.#step;
    const { checkpoint_id: id, ...thread } = config.configurable;
    // Reading a checkpoint by its id ends the saver's watch for checkpoints that continue it.
    const newest = await saver.getTuple({ configurable: thread });
    let saved = newest?.checkpoint.id === id ? newest : await saver.getTuple(config);
    const writes = saved?.pendingWrites ?? [];
    const before: Entry[] = [];
    while (saved?.metadata?.source === "update" && saved.parentConfig) {
      saved = await saver.getTuple(saved.parentConfig);
      before.push(...unendedOf(saved?.pendingWrites ?? []));
    }
    return { writes, before };
  }
}

/**
 * Saves the answers that a call has read when it stops to wait for an earlier call. LangGraph saves them only for a
 * call that stops with a question.
 */
export async function keepAnswers(call: string, configurable: Record<string, unknown> = {}): Promise<void> {
  const step = stepOf(configurable);
  const pad = scratchpadOf(configurable);
  const answers = pad?.resume.slice(0, pad.interruptCounter + 1) ?? [];
  if (!step || answers.length === 0) return;
  const { saver, config, task } = step;
  const entry: Entry = { task, call, times: 0, wasAsked: true, isAnswered: true };
  await saver.putWrites(config, [[RESUME, answers]], task);
  await saver.putWrites(config, [[SCHEDULED, entry]], uuid5(`${call} answered`, task));
}

/** Whether a task's last question has been answered: the call has started since, or waits for others. */
export function isOvertaken(
  { id, value }: { id: string; value: unknown },
  writes: readonly CheckpointPendingWrite[],
): boolean {
  const { call, repeated = 0 } = (value ?? {}) as { call?: unknown; repeated?: number };
  const entries = openEntries(writes).filter((entry) => entry.task === id && entry.call === call);
  return entries.some(({ times, isAnswered = false }) => times > repeated || (isAnswered && repeated === 0));
}

/** The ids of calls that have their answer and wait for earlier calls. */
export function answeredCalls(writes: readonly CheckpointPendingWrite[]): ReadonlySet<string> {
  return new Set(openEntries(writes).flatMap(({ call, isAnswered }) => (isAnswered ? [call] : [])));
}

/** Channels that an unfinished task writes. */
const WAITING: readonly string[] = [INTERRUPT, RESUME, ERROR, SCHEDULED];

function unendedOf(writes: readonly CheckpointPendingWrite[]): Entry[] {
  return openEntries(writes).filter(({ times }) => times > 0);
}

/** The entries of tasks that have not finished. */
function openEntries(writes: readonly CheckpointPendingWrite[]): Entry[] {
  const finished = new Set(writes.flatMap(([task, channel]) => (WAITING.includes(channel) ? [] : [task])));
  return entriesOf(writes).filter(({ task }) => !finished.has(task));
}

/** The calls of a step that the user was asked for consent to, even if the rules have changed since. */
function consentsOf(writes: readonly CheckpointPendingWrite[]): ReadonlySet<string> {
  const open = writes.flatMap(([, channel, value]) => {
    const question = channel === INTERRUPT && isRecord(value) ? value["value"] : undefined;
    return isRecord(question) && question["type"] === "consent" ? [String(question["call"])] : [];
  });
  const agreed = entriesOf(writes).flatMap(({ call, wasAsked }) => (wasAsked ? [call] : []));
  return new Set([...open, ...agreed]);
}

function entriesOf(writes: readonly CheckpointPendingWrite[]): Entry[] {
  return writes.flatMap(([, channel, value]) => (channel === SCHEDULED && isEntry(value) ? [value] : []));
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value["call"] === "string" && typeof value["times"] === "number";
}
