import { setTimeout as sleep } from "node:timers/promises";
import type { MessageContent } from "@langchain/core/messages";
import { isInterrupted, type Interrupt, type StreamMode } from "@langchain/langgraph";
import type { HostedThread, RunRecord, RunStatus } from "../../storage/index.ts";
import type { RunEvent } from "../events/index.ts";
import { PlanEdits } from "../plan/index.ts";
import type { Attendance } from "./request/attendance.ts";
import type { RunRequest } from "./request/request.ts";
import { EventLog, type Entry } from "./stream/event-log.ts";
import { LiveEvents, type HostEvent, type StampedEvent } from "./stream/live-events.ts";

type RunEnd = Extract<RunEvent, { type: "run-end" }>;

/** How long to wait for a run that has asked a question: it ends soon, unless something runs next to the question. */
const SOON_MS = 2000;

/** A chunk of LangGraph's stream, or the host's own message about the run. */
export type Chunk =
  | { namespace: string[]; mode: StreamMode | "events"; payload: unknown }
  | { event: "metadata" | "error"; data: object };

export interface RunResult {
  values: Record<string, unknown>;
  interrupts: Interrupt[];
  error?: { name: string; message: string };
}

/** The parts of a host that a run needs. */
export interface RunHome {
  events: EventLog<HostEvent>;
  say: (thread: string, content: MessageContent) => Promise<void>;
  cancel: (id: string) => Promise<boolean>;
}

export interface RunOptions {
  host: RunHome;
  /** The user that the run belongs to, if the server has several. */
  owner?: string;
  attendance?: Attendance;
}

/** A run in this or another process: surfaces read its events and send commands to it. */
export class Run {
  record: RunRecord;
  readonly chunks = new EventLog<Chunk>({ isKept: isWholeState });
  readonly live = new LiveEvents();
  readonly edits = new PlanEdits();
  readonly #abort = new AbortController();
  #resolveDone!: () => void;
  /** Resolves when the run has ended, however it ended. */
  readonly done = new Promise<void>((resolve) => (this.#resolveDone = resolve));
  result: RunResult | undefined;
  /** Whether its readers have seen a question: then it ends once what runs next to the question has ended. */
  isAsking = false;
  /** Whether the thread returns to its state before the run. */
  isRolledBack = false;
  /** The newest checkpoint when this process started it; undefined before that, or for a thread without checkpoints. */
  head: string | undefined;

  /** Why an attended run could not begin. */
  failure: unknown;
  /** Shows a notice to the user at the run. */
  notify: (text: string) => void = () => {};

  /** The record of its thread when the run was queued. */
  noted: HostedThread | undefined;
  readonly owner: string | undefined;
  readonly attendance: Attendance | undefined;
  readonly #host: RunHome;

  constructor(record: RunRecord, { host, owner, attendance }: RunOptions) {
    this.record = record;
    this.#host = host;
    this.owner = owner;
    this.attendance = attendance;
  }

  get id(): string {
    return this.record.id;
  }

  get thread(): string {
    return this.record.thread;
  }

  get request(): RunRequest {
    return this.record.request as RunRequest;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isOver(): boolean {
    return this.record.status !== "pending" && this.record.status !== "running";
  }

  /** Whether it waits for the user. A run that no one attends ends with its question; the answer starts another. */
  get hasAsked(): boolean {
    return this.live.all().some(({ type }) => type === "question");
  }

  /** Sends a message, which the agent reads at its next model call. Throws `run-ended` if no call follows. */
  say(content: MessageContent): Promise<void> {
    return this.#host.say(this.thread, content);
  }

  /** Stops the run; finished work stays. Returns whether there was something to stop. */
  stop(): Promise<boolean> {
    return this.#host.cancel(this.id);
  }

  /** The last event; undefined before the end, and for a run that was stopped before it started. */
  get lastEvent(): RunEnd | undefined {
    return this.live.all().findLast((event) => event.type === "run-end");
  }

  /** Resolves to the last event. Throws the error that kept an attended run from starting. */
  async ended(): Promise<RunEnd | undefined> {
    await this.done;
    if (this.failure !== undefined) throw this.failure;
    return this.lastEvent;
  }

  /** Yields the events after a number: past ones first, then new ones until the run has ended. */
  async *events(after = 0, signal?: AbortSignal): AsyncGenerator<StampedEvent, void> {
    const { events } = this.#host;
    let at = events.last;
    yield* this.live.all().filter(({ n = 0 }) => n > after);
    const ending = new AbortController();
    void this.done.then(() => ending.abort());
    const until = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
    for await (const entries of events.read(at, { signal: until })) {
      yield* this.#own(entries);
      at = entries.at(-1)!.n;
    }
    // The run may end before its last events are read.
    if (!signal?.aborted) yield* this.#own(events.since(at));
  }

  #own(entries: readonly Entry<HostEvent>[]): StampedEvent[] {
    return entries.flatMap((entry) =>
      "event" in entry && entry.event.kind === "run" && entry.event.event.run === this.id
        ? [entry.event.event]
        : [],
    );
  }

  push(chunk: Chunk, n?: number): void {
    this.chunks.push(chunk, n);
    this.isAsking ||= isQuestion(chunk);
  }

  abort(): void {
    this.#abort.abort(new Error("The run was stopped."));
  }

  settle(status: RunStatus): void {
    const reason = status === "error" ? this.result?.error?.message : undefined;
    const updatedAt = Date.now();
    this.record = { ...this.record, status, updatedAt, ...(reason !== undefined && { reason }) };
  }

  endsSoon(): Promise<boolean> {
    return Promise.race([this.done.then(() => true), sleep(SOON_MS, false, { ref: false })]);
  }

  /** Resolves `done`, and ends the readers of its chunks. */
  end(): void {
    this.chunks.close();
    this.#resolveDone();
  }
}

/** Whether a chunk has the whole state of its thread. A chunk with an interrupt has nothing else. */
function isWholeState(chunk: Chunk): boolean {
  return (
    "mode" in chunk &&
    chunk.mode === "values" &&
    chunk.namespace.length === 0 &&
    !isInterrupted(chunk.payload)
  );
}

/** Whether a chunk tells that the graph waits for the user. */
function isQuestion(chunk: Chunk): boolean {
  if (!("mode" in chunk) || chunk.namespace.length > 0) return false;
  return (chunk.mode === "values" || chunk.mode === "updates") && isInterrupted(chunk.payload);
}
