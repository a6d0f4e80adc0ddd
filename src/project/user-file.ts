import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { retryRename } from "../files/disk/index.ts";

/** Another process writes for no longer than this, unless it has died. */
const LOCK_MS = 5000;

/**
 * A JSON file of the user with named entries, such as one per folder, kept outside all projects. Every method throws `invalid-options` if
 * the file cannot be read: nothing in it counts then, and it is not overwritten.
 */
export class UserFile<Entry> {
  readonly path: string;
  readonly #schema: z.ZodType<Record<string, unknown>>;
  readonly #field: string;

  /** `field`: where the entries stand in the file. */
  constructor(path: string, entry: z.ZodType<Entry>, field = "folders") {
    this.path = path;
    this.#field = field;
    this.#schema = z.object({ version: z.literal(1), [field]: z.record(z.string(), entry) });
  }

  async read(): Promise<Map<string, Entry>> {
    try {
      const file = this.#schema.parse(JSON.parse(await readFile(this.path, "utf8")));
      return new Map(Object.entries(file[this.#field] as Record<string, Entry>));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return new Map();
      const text = `${this.path} cannot be read: mend it, or delete it to begin anew.`;
      throw new HarnessError("invalid-options", text, { cause });
    }
  }

  async change(make: (entries: Map<string, Entry>) => void): Promise<void> {
    await rewrite(this.path, async () => {
      const entries = await this.read();
      make(entries);
      return { version: 1, [this.#field]: Object.fromEntries(entries) };
    });
  }
}

/**
 * Gives a file of the user the JSON that `make` makes of what it reads there: whole or not at all, and one process
 * after the other, so that none loses what another has written.
 */
export async function rewrite(file: string, make: () => Promise<object>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = await lock(file);
  try {
    await writeFile(draft, `${JSON.stringify(await make(), undefined, 2)}\n`);
    await retryRename(() => rename(draft, file));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The draft that takes the file's place: who has made it is the only one who writes. */
async function lock(file: string): Promise<string> {
  const draft = `${file}.draft`;
  for (const began = Date.now(); ;) {
    try {
      await writeFile(draft, "", { mode: 0o600, flag: "wx" });
      return draft;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Windows says EPERM of a draft that is just being removed, and also of a folder that may not be written.
      const isBeingRemoved = code === "EPERM" && process.platform === "win32" && Date.now() - began < LOCK_MS;
      if (code !== "EEXIST" && !isBeingRemoved) throw error;
    }
    const made = await stat(draft).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > LOCK_MS) await rm(draft, { force: true });
    else await setTimeout(20);
  }
}
