import { EXIT } from "../../exit-codes.ts";
import { Interruption } from "../../interruption.ts";
import { shown } from "../../output/harmless.ts";
import type { Terminal } from "../../terminal.ts";
import { openThread } from "../../threads/thread-agent.ts";
import { findThread, statePath, withSaver, type StateFlags } from "../../threads/threads.ts";

export interface SayFlags extends StateFlags {
  thread: string;
  words: string;
}

/** `holdfast say`: gives a message to the agent at work on a thread, in whichever process. */
export async function say(flags: SayFlags, terminal: Terminal): Promise<number> {
  const { stdout } = terminal;
  return withSaver(statePath(flags, terminal), async (saver) => {
    const { id } = await findThread(saver, flags.thread);
    const thread = await openThread(saver, id, { flags, terminal });
    const interruption = new Interruption(stdout, () => {});
    try {
      await thread.say(flags.words, { signal: interruption.signal });
      stdout.write(shown`The agent reads it at its next call.\n`);
      return EXIT.done;
    } finally {
      interruption.dispose();
    }
  });
}
