import { rm as remove } from "node:fs/promises";
import type { ThreadStore } from "../../../../storage/index.ts";
import { isDatabaseUrl } from "../../../../storage/open/index.ts";
import { forgetThread, isOver, StoredSchedules, type Schedules } from "../../../../threads/host/index.ts";
import { copiesOf } from "../../../../threads/undo/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { harmless, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { copiesFolder, findThread, statePath, withSaver, type StateFlags } from "../../threads/index.ts";
import { quoted, refuse } from "../../wording.ts";

export interface RmFlags extends StateFlags {
  threads?: readonly string[];
  /** Days. */
  unusedFor?: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** `holdfast rm`: deletes threads with their schedules. All names are looked up before anything is deleted. */
export async function rm(flags: RmFlags, terminal: Terminal): Promise<number> {
  const { threads = [], unusedFor } = flags;
  if (threads.length === 0 && unusedFor === undefined)
    refuse("Name threads, or those that were not used for 30 days: holdfast rm --unused-for 30.");
  const path = statePath(flags, terminal);
  await withStorage(path, async (storage) => {
    const ids = new Set<string>();
    for (const thread of threads) ids.add((await findThread(storage.saver, thread)).id);
    if (unusedFor !== undefined) for (const id of await unusedThreads(storage, unusedFor)) ids.add(id);
    for (const id of ids) {
      await storage.remove(id);
      await remove(copiesOf(copiesFolder(path), id), { recursive: true, force: true });
      terminal.stdout.write(shown`Deleted ${harmless(quoted(id))}.\n`);
    }
  });
  return EXIT.done;
}

/** The threads of a file or a database. */
interface Storage {
  saver: ThreadStore;
  schedules: Schedules;
  /** Whether a run of a thread is running, waits for its turn, or is for later. */
  isInUse: (id: string) => Promise<boolean>;
  /** Deletes a thread and all that belongs to it. */
  remove: (id: string) => Promise<void>;
}

/** The ids of threads that were last used so many days ago, and that no run or schedule will use. */
async function unusedThreads({ saver, schedules, isInUse }: Storage, days: number): Promise<string[]> {
  const now = Date.now();
  const active = (await schedules.all()).filter((one) => !one.isPaused && !isOver(one, now));
  const continued = new Set(active.map(({ thread }) => thread));
  const unused: string[] = [];
  for (const { id, updatedAt, state } of await saver.listThreads({ limit: Number.MAX_SAFE_INTEGER })) {
    const isOld = updatedAt.getTime() < now - days * DAY_MS && state !== "running" && !continued.has(id);
    if (isOld && !(await isInUse(id))) unused.push(id);
  }
  return unused;
}

/** Opens a file, or a database with the runs of servers and workers on it. */
async function withStorage(address: string, use: (storage: Storage) => Promise<void>): Promise<void> {
  if (!isDatabaseUrl(address) || !(await hasCluster(address))) {
    return withSaver(address, async (saver) => {
      const schedules = new StoredSchedules(saver.ledger);
      const later = new Set((await saver.ledger.forLater()).map(({ thread }) => thread));
      const isInUse = async (id: string): Promise<boolean> => later.has(id);
      const removeThread = async (id: string): Promise<void> => {
        // First: it is refused for a thread at work.
        await saver.deleteThread(id);
        await forgetThread(schedules, id);
      };
      await use({ saver, schedules, isInUse, remove: removeThread });
    });
  }
  const { clusterHost, openCluster } = await import("../../../../threads/cluster/index.ts");
  const cluster = await openCluster(address);
  const host = clusterHost(cluster, new Map());
  try {
    const { schedules } = host;
    const isInUse = (id: string): Promise<boolean> => host.isBusy(id);
    await use({ saver: cluster.store, schedules, isInUse, remove: (id) => host.remove(id) });
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
