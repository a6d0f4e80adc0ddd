import { rm as remove } from "node:fs/promises";
import { copiesOf } from "../../../../threads/undo/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { harmless, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { copiesFolder, findThread, statePath, withSaver, type StateFlags } from "../../threads/index.ts";
import { quoted } from "../../wording.ts";

/** `holdfast rm`: deletes threads. All names are looked up before anything is deleted. */
export async function rm(
  flags: StateFlags & { threads: readonly string[] },
  terminal: Terminal,
): Promise<number> {
  const path = statePath(flags, terminal);
  await withSaver(path, async (saver) => {
    const ids = new Set<string>();
    for (const thread of flags.threads) ids.add((await findThread(saver, thread)).id);
    for (const id of ids) {
      await saver.deleteThread(id);
      await remove(copiesOf(copiesFolder(path), id), { recursive: true, force: true });
      terminal.stdout.write(shown`Deleted ${harmless(quoted(id))}.\n`);
    }
  });
  return EXIT.done;
}
