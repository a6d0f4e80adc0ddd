import type { ThreadStore } from "../../storage/index.ts";
import { RUN_SETTINGS, type RunSettings } from "../prepare/index.ts";

/** The settings of a thread; undefined for a thread of another program. */
export async function settingsOfThread(saver: ThreadStore, thread: string): Promise<RunSettings | undefined> {
  const { __start__: start, run } = await saver.getValues(thread, ["__start__", "run"]);
  // A thread that was killed before its first step has only its input.
  return RUN_SETTINGS.safeParse((start as { run?: unknown } | undefined)?.run ?? run).data;
}

/** The name of the graph of Holdfast's own threads. */
export const GRAPH = "holdfast";

/** Whether a thread is another program's: it exists, and has neither our settings nor our graph. */
export async function isForeign(saver: ThreadStore, thread: string): Promise<boolean> {
  if (await settingsOfThread(saver, thread)) return false;
  const { graph } = (await saver.ledger.thread(thread)) ?? {};
  return graph !== GRAPH && (await saver.getThread(thread)) !== undefined;
}
