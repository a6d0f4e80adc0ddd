import { Thread } from "../../../../threads/thread/thread.ts";
import { fileCopies } from "../../../../threads/undo/file-copies.ts";
import { undoLast, undoneWords } from "../../../../threads/undo/undo-last.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/harmless.ts";
import type { Terminal } from "../../terminal.ts";
import { agentOf, settingsOf } from "../../threads/thread-agent.ts";
import { copiesFolder, findThread, statePath, withSaver, type StateFlags } from "../../threads/threads.ts";

export interface UndoFlags extends StateFlags {
  thread: string;
}

/** `holdfast undo`: takes back the last message of a thread, and the files that the agent wrote for it. */
export async function undo(flags: UndoFlags, terminal: Terminal): Promise<number> {
  const path = statePath(flags, terminal);
  return withSaver(path, async (saver) => {
    const { id } = await findThread(saver, flags.thread);
    const { dir } = await settingsOf(saver, id);
    const copies = fileCopies({ folder: copiesFolder(path), thread: id, dir });
    const undone = await undoLast(new Thread(await agentOf(saver, id, terminal), id), copies);
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
