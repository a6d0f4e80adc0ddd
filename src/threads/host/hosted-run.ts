import { setTimeout as sleep } from "node:timers/promises";
import { isInterrupted, type Interrupt, type StreamMode } from "@langchain/langgraph";
import type { HostedThread, RunRecord, RunStatus } from "../../storage/index.ts";
import { PlanEdits } from "../plan/plan-edits.ts";
import type { Attendance } from "./attendance.ts";
import type { RunRequest } from "./request/request.ts";
import { EventLog } from "./stream/event-log.ts";
import { LiveEvents } from "./stream/live-events.ts";

/** A run that has asked is at its end in a moment, unless something else runs beside the question. */
const SOON_MS = 2000;

/** A chunk of LangGraph's stream, or the host's own message about the run. */
export type Chunk =
  | { namespace: string[]; mode: StreamMode | "events"; payload: unknown }
  | { event: "metadata" | "error"; data: object };

/** The result of a run. */
export interface RunResult {
  values: Record<string, unknown>;
  interrupts: Interrupt[];
  error?: { name: string; message: string };
}

/** A run in this process: what its readers follow, and what stops it. */
export class HostedRun {
  record: RunRecord;
  readonly chunks = new EventLog<Chunk>({ isKept: isWholeState });
  readonly live = new LiveEvents();
  readonly edits = new PlanEdits();
  readonly #abort = new AbortController();
  readonly #done = withResolvers();
  result: RunResult | undefined;
  /** Whether its readers know that it waits for a person: then it ends when what runs beside the question has ended. */
  isAsking = false;
  /** Whether the thread goes back to where it was before the run. */
  isRolledBack = false;
  /** The newest checkpoint when this process began it; undefined before, or for a thread without any. */
  head: string | undefined;

  /** Why an attended run could not begin. */
  failure: unknown;
  /** Shows whoever attends the run a notice. */
  notify: (text: string) => void = () => {};

  /** Its thread as it was known when it was put in the queue. */
  noted: HostedThread | undefined;
  /** The user that the run belongs to, if the server has several. */
  readonly owner: string | undefined;
  readonly attendance: Attendance | undefined;

  constructor(record: RunRecord, owner: string | undefined, attendance?: Attendance) {
    this.record = record;
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

  /** Resolves when the run has ended, however it ended. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  get isOver(): boolean {
    return this.record.status !== "pending" && this.record.status !== "running";
  }

  /** Whether it waits for a person: unless somebody attends it, it ends then, and whoever answers begins another. */
  get hasAsked(): boolean {
    return this.live.all().some(({ type }) => type === "question");
  }

  /** Tells its readers. */
  say(chunk: Chunk, n?: number): void {
    this.chunks.push(chunk, n);
    this.isAsking ||= isQuestion(chunk);
  }

  abort(): void {
    this.#abort.abort(new Error("The run was stopped."));
  }

  /** Says how it ended. */
  settle(status: RunStatus): void {
    const reason = status === "error" ? this.result?.error?.message : undefined;
    const updatedAt = Date.now();
    this.record = { ...this.record, status, updatedAt, ...(reason !== undefined && { reason }) };
  }

  /** Whether it ends within a moment. */
  endsSoon(): Promise<boolean> {
    return Promise.race([this.done.then(() => true), sleep(SOON_MS, false, { ref: false })]);
  }

  /** Lets go of everybody who waits for its end. */
  end(): void {
    this.chunks.close();
    this.#done.resolve();
  }
}

/** Whether a chunk has the whole state of its thread: one that only asks comes by itself. */
function isWholeState(chunk: Chunk): boolean {
  return (
    "mode" in chunk &&
    chunk.mode === "values" &&
    chunk.namespace.length === 0 &&
    !isInterrupted(chunk.payload)
  );
}

/** Whether a graph says in what it streams by itself that it waits for a person. */
function isQuestion(chunk: Chunk): boolean {
  if (!("mode" in chunk) || chunk.namespace.length > 0) return false;
  return (chunk.mode === "values" || chunk.mode === "updates") && isInterrupted(chunk.payload);
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
