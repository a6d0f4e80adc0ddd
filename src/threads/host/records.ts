import { v7 as uuid } from "@langchain/core/utils/uuid";
import { HarnessError } from "../../errors.ts";
import type { HostedThread, Ledger, RunRecord } from "../../storage/index.ts";
import type { HostedGraph } from "./graphs.ts";
import { withMessageIds } from "./request/begin.ts";
import type { RunRequest } from "./request/request.ts";

/** A run that was just asked for. Throws for an input that is none. */
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

/** When a run may begin. */
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
  // Of two who take a new name at once, the second comes too late.
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

/** A number that is above all that an earlier process gave out: clients drop what they take for old. */
export function risingNumber(): number {
  return Date.now() * 1000;
}

/** More than a run says in one attempt. */
const MOST_SAID = 1_000_000_000;

/** The number of the first that an attempt says: above all that the one before it gave out, in a process that was killed. */
export function firstNumber({ attempt }: RunRecord): number {
  return (attempt - 1) * MOST_SAID + 1;
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
  return busy(`Thread ${JSON.stringify(thread)} is at work: stop it first.`);
}

export function busy(message: string): HarnessError {
  return new HarnessError("thread-busy", message);
}

/** Whether somebody else has the thread. */
export function isBusy(failure: unknown): boolean {
  return HarnessError.from(failure)?.code === "thread-busy";
}

/** A run in the place of the one in the ledger, unless somebody has changed that since. */
export function ifStillAt(updatedAt: number, run: RunRecord): (now: RunRecord) => RunRecord | undefined {
  return (now) => (now.updatedAt === updatedAt ? run : undefined);
}

/** Whether a run failed because another server had taken it. A record that cannot be read counts as taken. */
export async function isTakenByAnother(
  failure: unknown,
  { ledger, id, taken }: { ledger: Ledger; id: string; taken: number },
): Promise<boolean> {
  if (!isBusy(failure)) return false;
  const now = await ledger.run(id).catch(() => undefined);
  return now?.updatedAt !== taken;
}

export function isAmong(runs: readonly RunRecord[], { id }: RunRecord): boolean {
  return runs.some((run) => run.id === id);
}
