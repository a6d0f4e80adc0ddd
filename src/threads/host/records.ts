import { v7 as uuid } from "@langchain/core/utils/uuid";
import { HarnessError } from "../../errors.ts";
import type { HostedThread, Ledger, RunRecord } from "../../storage/index.ts";
import type { HostedGraph } from "./graphs.ts";
import { withMessageIds } from "./request/begin.ts";
import type { RunRequest } from "./request/request.ts";

/** The record of a new run. Throws for an input that is no message. */
export function newRecord(thread: string, request: RunRequest): RunRecord {
  const input = request.input && withMessageIds(request.input);
  const now = Date.now();
  return {
    id: uuid(),
    thread,
    status: "pending",
    createdAt: now,
    updatedAt: now,
    attempt: 1,
    request: { ...request, ...(input && { input }) },
  };
}

/** The earliest start of a run. */
export function dueTime({ createdAt, request }: RunRecord): number {
  const { delay = 0 } = request as RunRequest;
  return createdAt + delay * 1000;
}

/** Thread metadata that is not in its checkpoints: title, owner, graph. */
export type ThreadNote = Partial<Omit<HostedThread, "id" | "createdAt" | "updatedAt">>;

/** Adds a note to a thread's record. Throws `not-found` for another owner. */
export function notedThread(
  id: string,
  {
    before,
    more,
    graphs,
  }: { before: HostedThread | undefined; more: ThreadNote; graphs: ReadonlyMap<string, HostedGraph> },
): HostedThread {
  // When two callers create the same name at once, the later one fails.
  const isTaken = before?.owner !== undefined && more.owner !== undefined && more.owner !== before.owner;
  if (isTaken) throw new HarnessError("not-found", `Thread with ID ${id} not found`);
  const now = Date.now();
  return {
    graph: [...graphs.keys()][0]!,
    hasFailed: false,
    createdAt: now,
    ...before,
    ...more,
    metadata: { ...before?.metadata, ...more.metadata },
    id,
    updatedAt: now,
  };
}

/** A first event number above those of earlier processes: clients drop events with lower numbers as old. */
export function risingNumber(): number {
  return Date.now() * 1000;
}

/** More chunks than one attempt streams. */
const MOST_CHUNKS = 1_000_000_000;

/** The number of an attempt's first chunk: above those of the attempt before it, whose process was killed. */
export function firstNumber({ attempt }: RunRecord): number {
  return (attempt - 1) * MOST_CHUNKS + 1;
}

export function alreadyRunning(): HarnessError {
  return busy(
    "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
  );
}

export function stopping(): HarnessError {
  return busy("The server is stopping.");
}

export function atWork(thread: string): HarnessError {
  return busy(`Thread ${JSON.stringify(thread)} is running: stop it first.`);
}

function busy(message: string): HarnessError {
  return new HarnessError("thread-busy", message);
}

/** Whether a failure means that another process holds the thread. */
export function isBusy(failure: unknown): boolean {
  return HarnessError.from(failure)?.code === "thread-busy";
}

/** A change of the ledger that puts `run` in, unless the stored run has changed since `updatedAt`. */
export function ifStillAt(updatedAt: number, run: RunRecord): (now: RunRecord) => RunRecord | undefined {
  return (now) => (now.updatedAt === updatedAt ? run : undefined);
}

/** Whether a run failed because another server has claimed it. An unreadable record counts as claimed. */
export async function isTakenByAnother(
  failure: unknown,
  { ledger, id, claimedAt }: { ledger: Ledger; id: string; claimedAt: number },
): Promise<boolean> {
  if (!isBusy(failure)) return false;
  const now = await ledger.run(id).catch(() => undefined);
  return now?.updatedAt !== claimedAt;
}
