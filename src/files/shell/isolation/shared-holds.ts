import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "../../../errors.ts";

const POLL_MS = 5;
/** After this many polls the lock is ignored: no one needs it for so long. */
const MOST_POLLS = 1000;

/** The placeholders of other processes in a root. Each process has a file with its own, outside of the project. */
interface OtherHolds {
  /** Names of running processes. */
  live: string[];
  /** Whether any of these processes is running. */
  isLive: boolean;
  /** Names of ended processes. */
  orphans: string[];
}

/** Runs a task under a lock of the machine for the root. The lock ends with its process. */
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

export function otherHolds(root: string): OtherHolds {
  const records = (attempt(() => readdirSync(folderOf(root))) ?? []).filter((name) => name !== ownRecord());
  const read = (isLive: boolean): string[] =>
    records
      .filter((name) => isRunning(name) === isLive)
      .flatMap((name) => namesOf(join(folderOf(root), name)));
  return { live: read(true), isLive: records.some(isRunning), orphans: read(false) };
}

/** Records the placeholders of this process for others. Does nothing where the folder for records cannot be written. */
export async function recordHold(root: string, names: readonly string[]): Promise<void> {
  try {
    await mkdir(folderOf(root), { recursive: true, mode: 0o700 });
    await writeFile(join(folderOf(root), ownRecord()), JSON.stringify(names), { mode: 0o600 });
  } catch {
    // Other processes then treat the placeholders as folders of the user.
  }
}

/** Hands the names of this process over to the processes that still run. */
export async function leaveHold(root: string): Promise<void> {
  const record = join(folderOf(root), ownRecord());
  await rename(record, join(folderOf(root), `left-${crypto.randomUUID()}`)).catch(() => {});
}

/** Deletes all records of a root. */
export function forgetHolds(root: string): void {
  // Fails for a folder of another user.
  attempt(() => rmSync(folderOf(root), { recursive: true, force: true }));
}

function keyOf(root: string): string {
  return `holdfast-${userInfo().uid}-${createHash("sha256").update(root).digest("hex").slice(0, 32)}`;
}

function folderOf(root: string): string {
  return join(tmpdir(), keyOf(root));
}

/** Process ids are reused: the start time identifies a process. */
function ownRecord(): string {
  return `${process.pid}-${startOf(process.pid)}`;
}

function isRunning(record: string): boolean {
  const [, pid, start] = /^(\d+)-(\d+)$/.exec(record) ?? [];
  return pid !== undefined && startOf(Number(pid)) === start;
}

/** The start time of a process in ticks since boot; undefined if it does not exist. */
function startOf(pid: number): string | undefined {
  // The process name, in parentheses, may contain spaces.
  return attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"))
    ?.split(") ")
    .at(-1)!
    .split(" ")[19];
}

function namesOf(record: string): string[] {
  const names = attempt((): unknown => JSON.parse(readFileSync(record, "utf8")));
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}
