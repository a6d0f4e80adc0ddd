import { undoneWords } from "../../../../threads/undo/undo-last.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/harmless.ts";
import type { Terminal } from "../../terminal.ts";
import { openThread } from "../../threads/thread-agent.ts";
import { findThread, statePath, withSaver, type StateFlags } from "../../threads/threads.ts";

export interface UndoFlags extends StateFlags {
  thread: string;
}

/** `holdfast undo`: takes back the last message of a thread, and the files that the agent wrote for it. */
export async function undo(flags: UndoFlags, terminal: Terminal): Promise<number> {
  return withSaver(statePath(flags, terminal), async (saver) => {
    const { id } = await findThread(saver, flags.thread);
    const undone = await (await openThread(saver, id, { flags, terminal })).undo();
    const words = undone
      ? [
          undone.isFirst
            ? "Its files are taken back. It was the first message, so the thread stays: holdfast rm deletes it."
            : `Taken back: ${undone.text}`,
          ...undoneWords(undone),
        ]
      : ["There is nothing to take back."];
    for (const line of words) terminal.stdout.write(shown`${oneLine(line)}\n`);
    return EXIT.done;
  });
}
