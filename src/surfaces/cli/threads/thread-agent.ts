import { HarnessError } from "../../../errors.ts";
import { openProject } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import type { HostThread } from "../../../threads/host/client.ts";
import { localHost } from "../../../threads/host/threads-graph.ts";
import { modelFor } from "../../../threads/prepare/model.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../../../threads/prepare/settings.ts";
import { settingsOfThread } from "../../../threads/thread/thread-settings.ts";
import type { Terminal } from "../terminal.ts";
import { quoted } from "../wording.ts";
import { copiesFolder, statePath, type StateFlags } from "./threads.ts";

/** The settings that a thread was started with. Throws `invalid-options` for a thread of another program. */
export async function settingsOf(saver: ThreadStore, thread: string): Promise<RunSettings> {
  const settings = await settingsOfThread(saver, thread);
  if (settings) return settings;
  throw new HarnessError(
    "invalid-options",
    `Thread ${quoted(thread)} is not of Holdfast's own agent: only its program can go on with it, or holdfast resume --agent with the file of its graph.`,
  );
}

/** A thread for commands that read or change it and run nothing. One of another program can only be read. */
export async function openThread(
  saver: ThreadStore,
  thread: string,
  { flags, terminal }: { flags: StateFlags; terminal: Pick<Terminal, "env" | "cwd"> },
): Promise<HostThread> {
  const { env } = terminal;
  const host = localHost({
    saver,
    defaults: (await settingsOfThread(saver, thread)) ?? DEFAULT_SETTINGS,
    modelOf: (name) => modelFor(name, { env, isWatched: false }),
    projectOf: ({ dir, project: use = true }) => openProject({ dir, env, use }),
    copies: copiesFolder(statePath(flags, terminal)),
  });
  return host.thread(thread);
}
