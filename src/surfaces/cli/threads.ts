import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { HarnessError } from "../../errors.ts";
import { nearWords } from "../../files/near.ts";
import { shortened } from "../../middleware/shortened.ts";
import { isThreadId } from "../../runs/thread-ids.ts";
import { defaultStatePath, openStore, type ThreadStore, type ThreadSummary } from "../../storage/index.ts";
import type { Terminal } from "./terminal.ts";
import { quoted } from "./wording.ts";

/** More threads than anybody lists. */
export const MANY = 10_000;

/** The file that threads are kept in: `--state`, `HOLDFAST_STATE`, or the user's state directory. */
export function statePath(given: string | undefined, { env, cwd }: Pick<Terminal, "env" | "cwd">): string {
  const path = given ?? env["HOLDFAST_STATE"];
  return path ? resolve(cwd, path) : defaultStatePath(env);
}

/** The same, where there must be one already. */
export function existingState(given: string | undefined, terminal: Pick<Terminal, "env" | "cwd">): string {
  const path = statePath(given, terminal);
  if (existsSync(path)) return path;
  throw new HarnessError("invalid-options", `There are no threads yet: ${path} does not exist.`);
}

/** Opens the thread store for as long as `use` takes. */
export async function withSaver<T>(path: string, use: (saver: ThreadStore) => Promise<T>): Promise<T> {
  const saver = await openStore(path);
  try {
    return await use(saver);
  } finally {
    await saver.close();
  }
}

/** Finds a thread by its id or the beginning of it. Throws `invalid-options` when there is none, or several. */
export async function findThread(saver: ThreadStore, given: string): Promise<ThreadSummary> {
  const exact = await saver.getThread(given);
  if (exact) return exact;
  const all = await saver.listThreads({ limit: MANY });
  const found = given === "" ? [] : all.filter(({ id }) => id.startsWith(given));
  if (found.length === 1) return found[0]!;
  const ids = (list: readonly ThreadSummary[]): string[] => list.map(({ id }) => quoted(id));
  const near = nearWords(
    given,
    all.map(({ id }) => id),
  ).map(quoted);
  const known =
    near.length > 0
      ? `did you mean ${near.join(" or ")}?`
      : all.length > 0
        ? `the latest are ${shortList(ids(all))}.`
        : "there are none yet.";
  throw new HarnessError(
    "invalid-options",
    found.length > 1
      ? `${found.length} threads begin with ${JSON.stringify(given)}: ${shortList(ids(found))}. Type more of the one you mean.`
      : `There is no thread ${JSON.stringify(given)}: ${known} See holdfast threads.`,
  );
}

const SHORT = 5;

/** The first few of a list, and how many more there are. */
export function shortList(all: readonly string[]): string {
  const more = all.length > SHORT ? ` and ${all.length - SHORT} more` : "";
  return all.slice(0, SHORT).join(", ") + more;
}

/** Throws `invalid-options` unless a thread may be called so. One that is there keeps the name that it has. */
export function checkThreadId(id: string): void {
  if (isThreadId(id)) return;
  const rule = "letters, digits, dots, _ and -, up to 100 of them, with a letter, a digit or _ in front";
  throw new HarnessError("invalid-options", `--thread ${quoted(shortened(id))}: use ${rule}.`);
}
