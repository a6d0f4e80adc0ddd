import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../../../errors.ts";
import { nearWords } from "../../../files/text/index.ts";
import { shortened } from "../../../middleware/text/index.ts";
import { defaultStatePath, type ThreadStore, type ThreadSummary } from "../../../storage/index.ts";
import { isDatabaseUrl, openStore } from "../../../storage/open/index.ts";
import type { Cluster } from "../../../threads/cluster/index.ts";
import { shortList } from "../../../threads/events/index.ts";
import { isThreadId } from "../../../threads/thread/index.ts";
import type { Terminal } from "../terminal.ts";
import { quoted, refuse } from "../wording.ts";

/** The most threads that a command reads. */
export const MANY = 10_000;

export interface StateFlags {
  state?: string;
  database?: string;
}

/**
 * The address of the thread store, in this order: `--database` or `--state`, `HOLDFAST_DATABASE_URL`, `HOLDFAST_STATE`,
 * a file in the user's state directory. Throws `invalid-options` for both flags at once.
 */
export function statePath(
  { state, database }: StateFlags,
  { env, cwd }: Pick<Terminal, "env" | "cwd">,
): string {
  if (state !== undefined && database !== undefined) {
    refuse("--state and --database name two places: use only one.");
  }
  const url = database ?? (state === undefined ? env["HOLDFAST_DATABASE_URL"] : undefined);
  if (url) {
    if (isDatabaseUrl(url)) return url;
    const flag = database === undefined ? "HOLDFAST_DATABASE_URL" : "--database";
    refuse(`${flag}: use postgres://user:password@host:5432/database.`);
  }
  const path = state ?? env["HOLDFAST_STATE"];
  return path ? resolve(cwd, path) : defaultStatePath(env);
}

/** The address of the database. Throws `invalid-options` if threads are in a file. */
export function databaseUrl(flags: StateFlags, terminal: Pick<Terminal, "env" | "cwd">): string {
  const address = statePath(flags, terminal);
  if (isDatabaseUrl(address)) return address;
  refuse("Workers share a PostgreSQL database: give its address with --database or HOLDFAST_DATABASE_URL.");
}

/** The address of an existing store. Throws `invalid-options` if its file does not exist. */
export function existingState(flags: StateFlags, terminal: Pick<Terminal, "env" | "cwd">): string {
  const path = statePath(flags, terminal);
  if (isDatabaseUrl(path) || existsSync(path)) return path;
  refuse(`There are no threads yet: ${path} does not exist.`);
}

/** A store's address without its credentials. */
export function shownState(path: string): string {
  return isDatabaseUrl(path) ? maskedUrl(path) : path;
}

/** The address of a database without its password. */
export function maskedUrl(address: string): string {
  const url = attempt(() => new URL(address));
  if (!url) return "postgres://…";
  if (url.password) url.password = "***";
  url.searchParams.delete("password");
  return url.href;
}

/** The local folder for other files, also if threads are in a database. */
function localFolder(state: string): string {
  return dirname(isDatabaseUrl(state) ? defaultStatePath() : state);
}

/** The folder for copies of files that agents changed. */
export function copiesFolder(state: string): string {
  return join(localFolder(state), "copies");
}

/** The file with the history of typed texts. */
export function historyFile(state: string): string {
  return join(localFolder(state), "history");
}

/** Opens the thread store for the duration of `use`. */
export async function withSaver<T>(path: string, use: (saver: ThreadStore) => Promise<T>): Promise<T> {
  const saver = await openStore(path);
  try {
    return await use(saver);
  } finally {
    await saver.close();
  }
}

/** The store of a server or worker; with a database also the cluster that shares it. */
export interface Home {
  saver: ThreadStore;
  cluster?: Cluster;
}

/** Opens a `Home` for `use`, which has to close the cluster itself. */
export async function withHome<T>(address: string, use: (home: Home) => Promise<T>): Promise<T> {
  if (!isDatabaseUrl(address)) return withSaver(address, (saver) => use({ saver }));
  const { openCluster } = await import("../../../threads/cluster/index.ts");
  const cluster = await openCluster(address);
  return use({ saver: cluster.store, cluster });
}

/** Finds a thread by its id or the beginning of it. Throws `invalid-options` if there is none, or several. */
export async function findThread(saver: ThreadStore, prefix: string): Promise<ThreadSummary> {
  const exact = await saver.getThread(prefix);
  if (exact) return exact;
  const all = await saver.listThreads({ limit: MANY });
  const matches = prefix === "" ? [] : all.filter(({ id }) => id.startsWith(prefix));
  if (matches.length === 1) return matches[0]!;
  const ids = (list: readonly ThreadSummary[]): string[] => list.map(({ id }) => quoted(id));
  const near = nearWords(
    prefix,
    all.map(({ id }) => id),
  ).map(quoted);
  const hint =
    near.length > 0
      ? `did you mean ${near.join(" or ")}?`
      : all.length > 0
        ? `the latest are ${shortList(ids(all))}.`
        : "there are none yet.";
  refuse(
    matches.length > 1
      ? `${matches.length} threads begin with ${JSON.stringify(prefix)}: ${shortList(ids(matches))}. Type more of the one you mean.`
      : `There is no thread ${JSON.stringify(prefix)}: ${hint} See holdfast threads.`,
  );
}

/** Throws `invalid-options` for an invalid name of a new thread. */
export function checkThreadId(id: string): void {
  if (isThreadId(id)) return;
  const rule = "letters, digits, dots, _ and -, up to 100 of them, with a letter, a digit or _ in front";
  refuse(`--thread ${quoted(shortened(id))}: use ${rule}.`);
}
