import { createHash } from "node:crypto";
import { z } from "zod";
import { UserFile } from "./user-file.ts";

const ENTRY = z.object({
  trusted: z.boolean(),
  /** When it was said. */
  at: z.string(),
  /** The fingerprint of the folder's settings and servers at that time. */
  fingerprint: z.string().optional(),
});

/**
 * The user's decisions about folders, kept outside them, by real path. Every method throws `invalid-options` if the
 * file cannot be read: nothing is trusted then, and the file is not overwritten.
 */
export class Trust {
  readonly #file: UserFile<z.output<typeof ENTRY>>;

  constructor(file: string) {
    this.#file = new UserFile(file, ENTRY);
  }

  /** The decision about a folder; undefined if there is none. */
  async of(folder: string): Promise<z.output<typeof ENTRY> | undefined> {
    return (await this.#file.read()).get(folder);
  }

  async trusted(): Promise<string[]> {
    const entries = [...(await this.#file.read())];
    return entries.flatMap(([folder, { trusted }]) => (trusted ? [folder] : [])).toSorted();
  }

  async say(folder: string, trusted: boolean, fingerprint?: string): Promise<void> {
    const at = new Date().toISOString();
    await this.#file.change((entries) =>
      entries.set(folder, { trusted, at, ...(fingerprint !== undefined && { fingerprint }) }),
    );
  }

  /** Forgets what was said. False when nothing was. */
  async forget(folder: string): Promise<boolean> {
    let isKnown = false;
    await this.#file.change((entries) => (isKnown = entries.delete(folder)));
    return isKnown;
  }
}

/** Tells whether something is what it was. */
export function fingerprintOf(what: unknown): string {
  return createHash("sha256").update(JSON.stringify(what)).digest("hex");
}
