import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { HarnessError } from "../errors.ts";

/** Another process writes for no longer than this, unless it has died. */
const LOCK_MS = 5000;

/**
 * A JSON file of the user with an entry per folder, kept outside the folders. Every method throws `invalid-options` if
 * the file cannot be read: nothing in it counts then, and it is not overwritten.
 */
export class UserFile<Entry> {
  readonly path: string;
  readonly #schema: z.ZodType<{ version: 1; folders: Record<string, Entry> }>;

  constructor(path: string, entry: z.ZodType<Entry>) {
    this.path = path;
    this.#schema = z.object({ version: z.literal(1), folders: z.record(z.string(), entry) });
  }

  async read(): Promise<Map<string, Entry>> {
    try {
      return new Map(
        Object.entries(this.#schema.parse(JSON.parse(await readFile(this.path, "utf8"))).folders),
      );
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return new Map();
      const text = `${this.path} cannot be read: mend it, or delete it to begin anew.`;
      throw new HarnessError("invalid-options", text, { cause });
    }
  }

  /** Changes the entries: whole or not at all, and one process after the other, so that none loses another's. */
  async change(make: (folders: Map<string, Entry>) => void): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = await lock(this.path);
    try {
      const folders = await this.read();
      make(folders);
      const file = { version: 1, folders: Object.fromEntries(folders) };
      await writeFile(draft, `${JSON.stringify(file, undefined, 2)}\n`);
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
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
