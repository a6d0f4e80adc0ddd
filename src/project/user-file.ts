import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { retryRename } from "../files/disk/index.ts";

/** The age at which the draft of another process counts as left behind by a crash. */
const LOCK_MS = 5000;

/**
 * A JSON file of the user with named entries, such as one per folder, outside all projects. Every method throws
 * `invalid-options` if the file cannot be read: its entries are ignored then, and it is not overwritten.
 */
export class UserFile<Entry> {
  readonly path: string;
  readonly #schema: z.ZodType<Record<string, unknown>>;
  readonly #field: string;

  /** `field`: the property of the file that holds the entries. */
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
      const text = `${this.path} cannot be read: fix it, or delete it to start over.`;
      throw new HarnessError("invalid-options", text, { cause });
    }
  }

  async change(update: (entries: Map<string, Entry>) => void): Promise<void> {
    await rewrite(this.path, async () => {
      const entries = await this.read();
      update(entries);
      return { version: 1, [this.#field]: Object.fromEntries(entries) };
    });
  }
}

/**
 * Replaces a JSON file of the user atomically. `make` reads the file and returns the new content; only one process at a
 * time does so, so no change is lost.
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

/** Creates the draft that will replace the file, which is also the lock: only its creator may write. */
async function lock(file: string): Promise<string> {
  const draft = `${file}.draft`;
  for (const start = Date.now(); ;) {
    try {
      await writeFile(draft, "", { mode: 0o600, flag: "wx" });
      return draft;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Windows reports EPERM for a draft that is being removed, and also for a folder without write permission.
      const isBeingRemoved = code === "EPERM" && process.platform === "win32" && Date.now() - start < LOCK_MS;
      if (code !== "EEXIST" && !isBeingRemoved) throw error;
    }
    const stats = await stat(draft).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > LOCK_MS) await rm(draft, { force: true });
    else await setTimeout(20);
  }
}
