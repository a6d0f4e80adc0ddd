import { EXIT } from "../exit-codes.ts";
import { harmless, shown } from "../output/harmless.ts";
import type { Terminal } from "../terminal.ts";
import { findThread, statePath, withSaver, type StateFlags } from "../threads.ts";
import { quoted } from "../wording.ts";

export interface RmFlags extends StateFlags {
  threads: readonly string[];
}

/** `holdfast rm`: deletes threads. All names are looked up before anything is deleted. */
export async function rm(flags: RmFlags, terminal: Terminal): Promise<number> {
  await withSaver(statePath(flags, terminal), async (saver) => {
    const found = new Set<string>();
    for (const thread of flags.threads) found.add((await findThread(saver, thread)).id);
    for (const id of found) {
      await saver.deleteThread(id);
      terminal.stdout.write(shown`Deleted ${harmless(quoted(id))}.\n`);
    }
  });
  return EXIT.done;
}
