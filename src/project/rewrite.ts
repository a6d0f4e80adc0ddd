import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Another process writes for no longer than this, unless it has died. */
const LOCK_MS = 5000;

/**
 * Gives a file of the user the content that `make` makes of what it reads there: whole or not at all, and one process
 * after the other, so that none loses what another has written.
 */
export async function rewrite(file: string, make: () => Promise<string>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = await lock(file);
  try {
    await writeFile(draft, await make());
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The draft that takes the file's place: who has made it is the only one who writes. */
async function lock(file: string): Promise<string> {
  const draft = `${file}.draft`;
  for (;;) {
    try {
      await writeFile(draft, "", { mode: 0o600, flag: "wx" });
      return draft;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const made = await stat(draft).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > LOCK_MS) await rm(draft, { force: true });
    else await setTimeout(20);
  }
}
