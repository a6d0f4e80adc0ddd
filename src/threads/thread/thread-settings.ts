import type { ThreadStore } from "../../storage/index.ts";
import { RUN_SETTINGS, type RunSettings } from "../prepare/settings.ts";

/** The settings that a thread was started with; undefined for a thread of another program. */
export async function settingsOfThread(saver: ThreadStore, thread: string): Promise<RunSettings | undefined> {
  const { __start__: start, run } = await saver.getValues(thread, ["__start__", "run"]);
  // A thread that was killed before its first step has its input, and nothing else.
  return RUN_SETTINGS.safeParse((start as { run?: unknown } | undefined)?.run ?? run).data;
}
