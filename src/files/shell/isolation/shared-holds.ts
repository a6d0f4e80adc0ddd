import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "../../../errors.ts";

const POLL_MS = 5;
/** Somebody who keeps the lock for longer does so on purpose. */
const MOST_POLLS = 1000;

/** Records of the processes that hold frozen paths of a root: one file for each, outside of the project. */
export interface OtherHolds {
  /** Names that processes which still run have made to be held. */
  live: string[];
  isLive: boolean;
  /** Names that were left behind by processes that have ended. */
  orphans: string[];
}

/** Runs a task while no other process of this machine does so for the root. The lock ends with its process. */
export async function locked<T>(root: string, task: () => Promise<T>): Promise<T> {
  const server = createServer();
  const listens = (): Promise<boolean> =>
    new Promise((resolve) => {
      server.once("error", () => resolve(false));
      // An abstract socket: a name without a file.
      server.listen(`\0${keyOf(root)}`, () => resolve(true));
    });
  for (let polls = 0; polls < MOST_POLLS && !(await listens()); polls += 1) await sleep(POLL_MS);
  try {
    return await task();
  } finally {
    server.close();
  }
}

/** The holds of other processes. */
export function otherHolds(root: string): OtherHolds {
  const records = (attempt(() => readdirSync(folderOf(root))) ?? []).filter((name) => name !== ownRecord());
  const read = (isLive: boolean): string[] =>
    records
      .filter((name) => isRunning(name) === isLive)
      .flatMap((name) => namesOf(join(folderOf(root), name)));
  return { live: read(true), isLive: records.some(isRunning), orphans: read(false) };
}

/** Records the names that this process has made. Without a folder for records it holds alone. */
export async function recordHold(root: string, names: readonly string[]): Promise<void> {
  try {
    await mkdir(folderOf(root), { recursive: true, mode: 0o700 });
    await writeFile(join(folderOf(root), ownRecord()), JSON.stringify(names), { mode: 0o600 });
  } catch {
    // Other processes take folders without a record for the user's.
  }
}

/** Leaves the names to the processes that still hold the root. */
export async function leaveHold(root: string): Promise<void> {
  const record = join(folderOf(root), ownRecord());
  await rename(record, join(folderOf(root), `left-${crypto.randomUUID()}`)).catch(() => {});
}

/** Forgets all records of a root that nobody holds any more. */
export function forgetHolds(root: string): void {
  // Fails where it is somebody else's, and so is what is in it.
  attempt(() => rmSync(folderOf(root), { recursive: true, force: true }));
}

function keyOf(root: string): string {
  return `holdfast-${userInfo().uid}-${createHash("sha256").update(root).digest("hex").slice(0, 32)}`;
}

function folderOf(root: string): string {
  return join(tmpdir(), keyOf(root));
}

/** A process's number is given again: its start tells it from a later one. */
function ownRecord(): string {
  return `${process.pid}-${startOf(process.pid)}`;
}

function isRunning(record: string): boolean {
  const [, pid, start] = /^(\d+)-(\d+)$/.exec(record) ?? [];
  return pid !== undefined && startOf(Number(pid)) === start;
}

/** The start of a process in ticks since the machine's; undefined where there is no such process. */
function startOf(pid: number): string | undefined {
  // Its name, in brackets, may have spaces.
  return attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"))
    ?.split(") ")
    .at(-1)!
    .split(" ")[19];
}

function namesOf(record: string): string[] {
  const names = attempt((): unknown => JSON.parse(readFileSync(record, "utf8")));
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}
