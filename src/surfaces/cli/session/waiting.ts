import { isAsking } from "../../../runs/thread.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import { oneLine, type Harmless } from "../output/harmless.ts";
import { quoted } from "../wording.ts";

/** What to know of a thread that waits for an answer before something else is said to it. */
export async function waitingLines(saver: ThreadStore, thread: string): Promise<Harmless[]> {
  if (!(await isAsking(saver, thread))) return [];
  return [
    oneLine(
      `A question waits there: holdfast resume ${quoted(thread)} asks it again, a message here goes on without it.`,
    ),
  ];
}
