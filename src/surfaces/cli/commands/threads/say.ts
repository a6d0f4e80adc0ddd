import { EXIT } from "../../exit-codes.ts";
import { interruptible } from "../../interruption.ts";
import { shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { withThread, type StateFlags } from "../../threads/index.ts";

/** `holdfast say`: sends a message to the agent at work on a thread, in any process. */
export function say(
  flags: StateFlags & { thread: string; words: string },
  terminal: Terminal,
): Promise<number> {
  const { stdout } = terminal;
  return withThread(flags, terminal, async (thread) => {
    await interruptible(stdout, (signal) => thread.say(flags.words, { signal }));
    stdout.write(shown`The agent reads it at its next call.\n`);
    return EXIT.done;
  });
}
