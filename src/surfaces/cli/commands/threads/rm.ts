import { rm as remove } from "node:fs/promises";
import type { ThreadStore } from "../../../../storage/index.ts";
import { isDatabaseUrl } from "../../../../storage/open/index.ts";
import { forgetThread, StoredSchedules } from "../../../../threads/host/index.ts";
import { copiesOf } from "../../../../threads/undo/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { harmless, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import {
  copiesFolder,
  findThread,
  MANY,
  statePath,
  withSaver,
  type StateFlags,
} from "../../threads/index.ts";
import { quoted, refuse } from "../../wording.ts";

export interface RmFlags extends StateFlags {
  threads?: readonly string[] | undefined;
  /** Days. */
  unusedFor?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** `holdfast rm`: deletes threads with their schedules. All names are looked up before anything is deleted. */
export async function rm(flags: RmFlags, terminal: Terminal): Promise<number> {
  const { threads = [], unusedFor } = flags;
  if (threads.length === 0 && unusedFor === undefined)
    refuse("Name threads, or those that were not used for 30 days: holdfast rm --unused-for 30.");
  const path = statePath(flags, terminal);
  await withRemoval(path, async (saver, removeThread) => {
    const ids = new Set<string>();
    for (const thread of threads) ids.add((await findThread(saver, thread)).id);
    if (unusedFor !== undefined) for (const id of await unusedThreads(saver, unusedFor)) ids.add(id);
    for (const id of ids) {
      await removeThread(id);
      await remove(copiesOf(copiesFolder(path), id), { recursive: true, force: true });
      terminal.stdout.write(shown`Deleted ${harmless(quoted(id))}.\n`);
    }
  });
  return EXIT.done;
}

/** The ids of threads that were last used so many days ago, and are not at work. */
async function unusedThreads(saver: ThreadStore, days: number): Promise<string[]> {
  const oldest = Date.now() - days * DAY_MS;
  const all = await saver.listThreads({ limit: MANY });
  return all.flatMap(({ id, updatedAt, state }) =>
    updatedAt.getTime() < oldest && state !== "running" ? id : [],
  );
}

type RemoveThread = (id: string) => Promise<void>;

/** Opens the threads of a file or a database, with a function that deletes one and all that belongs to it. */
async function withRemoval(
  address: string,
  use: (saver: ThreadStore, removeThread: RemoveThread) => Promise<void>,
): Promise<void> {
  if (!isDatabaseUrl(address) || !(await hasCluster(address))) {
    return withSaver(address, (saver) =>
      use(saver, async (id) => {
        await forgetThread(new StoredSchedules(saver.ledger), id);
        await saver.deleteThread(id);
      }),
    );
  }
  const { clusterHost, openCluster } = await import("../../../../threads/cluster/index.ts");
  const cluster = await openCluster(address);
  const host = clusterHost(cluster, new Map());
  try {
    await use(cluster.store, (id) => host.remove(id));
  } finally {
    await host.stop();
    await cluster.close();
  }
}

/** Whether servers and workers share a database. */
async function hasCluster(address: string): Promise<boolean> {
  const { ClusterDatabase } = await import("../../../../threads/cluster/index.ts");
  return ClusterDatabase.isIn(address);
}
