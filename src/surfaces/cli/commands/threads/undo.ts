import { undoneWords } from "../../../../threads/undo/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { withThread, type StateFlags } from "../../threads/index.ts";

/** `holdfast undo`: removes the last message of a thread, and restores the files that the agent changed for it. */
export function undo(flags: StateFlags & { thread: string }, terminal: Terminal): Promise<number> {
  return withThread(flags, terminal, async (thread) => {
    const undone = await thread.undo();
    const words = undone
      ? [
          `Taken back: ${undone.text}`,
          ...undoneWords(undone),
          ...(undone.isFirst
            ? [`It was the first message: the thread is empty now, and holdfast rm deletes it.`]
            : []),
        ]
      : ["There is nothing to undo."];
    for (const line of words) terminal.stdout.write(shown`${oneLine(line)}\n`);
    return EXIT.done;
  });
}
