import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { rewrite } from "./rewrite.ts";

const ENTRY = z.object({
  trusted: z.boolean(),
  /** When it was said. */
  at: z.string(),
  /** The fingerprint of the folder's settings and servers at that time. */
  fingerprint: z.string().optional(),
});
const FILE = z.object({ version: z.literal(1), folders: z.record(z.string(), ENTRY) });
type Entries = Map<string, z.output<typeof ENTRY>>;

/**
 * The user's decisions about folders, kept outside them, by real path. Every method throws `invalid-options` if the
 * file cannot be read: nothing is trusted then, and the file is not overwritten.
 */
export class Trust {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** The decision about a folder; undefined if there is none. */
  async of(folder: string): Promise<z.output<typeof ENTRY> | undefined> {
    return (await this.#read()).get(folder);
  }

  async trusted(): Promise<string[]> {
    return [...(await this.#read())].flatMap(([folder, { trusted }]) => (trusted ? [folder] : [])).toSorted();
  }

  async say(folder: string, trusted: boolean, fingerprint?: string): Promise<void> {
    const at = new Date().toISOString();
    await this.#change((entries) =>
      entries.set(folder, { trusted, at, ...(fingerprint !== undefined && { fingerprint }) }),
    );
  }

  /** Forgets what was said. False when nothing was. */
  async forget(folder: string): Promise<boolean> {
    let isKnown = false;
    await this.#change((entries) => (isKnown = entries.delete(folder)));
    return isKnown;
  }

  async #read(): Promise<Entries> {
    try {
      const { folders } = FILE.parse(JSON.parse(await readFile(this.#file, "utf8")));
      return new Map(Object.entries(folders));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return new Map();
      const text = `${this.#file} cannot be read: mend it, or delete it to begin anew.`;
      throw new HarnessError("invalid-options", text, { cause });
    }
  }

  async #change(make: (entries: Entries) => void): Promise<void> {
    await rewrite(this.#file, async () => {
      const entries = await this.#read();
      make(entries);
      return `${JSON.stringify({ version: 1, folders: Object.fromEntries(entries) }, undefined, 2)}\n`;
    });
  }
}

/** Tells whether something is what it was. */
export function fingerprintOf(what: unknown): string {
  return createHash("sha256").update(JSON.stringify(what)).digest("hex");
}
