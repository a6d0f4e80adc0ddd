import { HarnessError } from "../../errors.ts";
import { createRunAgent, type RunAgent } from "../../runs/agent.ts";
import { RUN_SETTINGS, type RunSettings } from "../../runs/settings.ts";
import type { SqliteSaver } from "../../storage/index.ts";

/** What the thread was started with. Throws `invalid-options` for a thread that some other program made. */
export async function settingsOf(saver: SqliteSaver, thread: string): Promise<RunSettings> {
  const stored = await saver.getTuple({ configurable: { thread_id: thread } });
  const values = stored?.checkpoint.channel_values ?? {};
  // A thread that was killed before its first step has its input, and nothing else.
  const { run } = (values["__start__"] ?? values) as { run?: unknown };
  const settings = RUN_SETTINGS.safeParse(run ?? values["run"]);
  if (settings.success) return settings.data;
  throw new HarnessError(
    "invalid-options",
    `Thread ${thread} was not started by holdfast run: only its program can go on with it.`,
  );
}

/** Whether a thread was started by `holdfast run`. */
export async function isOurs(saver: SqliteSaver, thread: string): Promise<boolean> {
  return settingsOf(saver, thread).then(
    () => true,
    () => false,
  );
}

/** The agent of a thread, to read and change what it has; its model is never called. */
export async function agentOf(saver: SqliteSaver, thread: string): Promise<RunAgent> {
  const settings = await settingsOf(saver, thread);
  return createRunAgent({ settings, checkpointer: saver });
}
