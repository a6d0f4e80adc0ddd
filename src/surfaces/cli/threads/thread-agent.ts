import { openProject } from "../../../project/index.ts";
import type { ThreadStore, ThreadSummary } from "../../../storage/index.ts";
import { type HostThread, localHost } from "../../../threads/host/index.ts";
import { modelFor, DEFAULT_SETTINGS, type RunSettings } from "../../../threads/prepare/index.ts";
import { settingsOfThread } from "../../../threads/thread/index.ts";
import type { Terminal } from "../terminal.ts";
import { quoted, refuse } from "../wording.ts";
import { copiesFolder, findThread, statePath, withSaver, type StateFlags } from "./threads.ts";

/** The stored settings of a thread. Throws `invalid-options` for a thread of another program. */
export async function settingsOf(saver: ThreadStore, thread: string): Promise<RunSettings> {
  const settings = await settingsOfThread(saver, thread);
  if (settings) return settings;
  refuse(
    `Thread ${quoted(thread)} does not belong to Holdfast's own agent: continue it with its program, or with holdfast resume --agent and the file of its graph.`,
  );
}

/**
 * Opens the thread that a command names for the duration of `use`, to read or change it without a run. A thread of
 * another program can only be read.
 */
export function withThread<T>(
  flags: StateFlags & { thread: string },
  terminal: Pick<Terminal, "env" | "cwd">,
  use: (thread: HostThread, summary: ThreadSummary, saver: ThreadStore) => Promise<T>,
): Promise<T> {
  const { env } = terminal;
  const path = statePath(flags, terminal);
  return withSaver(path, async (saver) => {
    const summary = await findThread(saver, flags.thread);
    const host = localHost({
      saver,
      defaults: (await settingsOfThread(saver, summary.id)) ?? DEFAULT_SETTINGS,
      modelOf: (name) => modelFor(name, { env, isWatched: false }),
      projectOf: ({ dir, project: enabled = true }) => openProject({ dir, env, use: enabled }),
      copies: copiesFolder(path),
    });
    return use(host.thread(summary.id), summary, saver);
  });
}
