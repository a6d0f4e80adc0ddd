import { HarnessError } from "../../../errors.ts";
import { openProject } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import { createRunAgent, type RunAgent } from "../../../threads/prepare/agent.ts";
import type { RunSettings } from "../../../threads/prepare/settings.ts";
import { settingsOfThread } from "../../../threads/thread/thread-settings.ts";
import type { Terminal } from "../terminal.ts";
import { quoted } from "../wording.ts";

/** The settings that a thread was started with. Throws `invalid-options` for a thread of another program. */
export async function settingsOf(saver: ThreadStore, thread: string): Promise<RunSettings> {
  const settings = await settingsOfThread(saver, thread);
  if (settings) return settings;
  throw new HarnessError(
    "invalid-options",
    `Thread ${quoted(thread)} was not started by holdfast run: only its program can go on with it.`,
  );
}

/** The agent of a thread, to read and change what it has; its model is never called. */
export async function agentOf(
  saver: ThreadStore,
  thread: string,
  { env }: Pick<Terminal, "env">,
): Promise<RunAgent> {
  const settings = await settingsOf(saver, thread);
  const { dir, project: use = true } = settings;
  // Settings that cannot be used keep nobody from reading.
  const project = await openProject({ dir, env, use }).catch(() => undefined);
  return createRunAgent({ settings, checkpointer: saver, project });
}
