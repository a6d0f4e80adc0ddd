import { createHash } from "node:crypto";
import { z } from "zod";
import { UserFile } from "./user-file.ts";

const ENTRY = z.object({
  trusted: z.boolean(),
  /** The time of the decision. */
  at: z.string(),
  /** The fingerprint of the folder's settings and servers at that time. */
  fingerprint: z.string().optional(),
});

/**
 * The user's decisions about folders, by real path. Every method throws `invalid-options` if the file cannot be read:
 * nothing is trusted then, and the file is not overwritten.
 */
export class Trust {
  readonly #file: UserFile<z.output<typeof ENTRY>>;

  constructor(file: string) {
    this.#file = new UserFile(file, ENTRY);
  }

  async of(folder: string): Promise<z.output<typeof ENTRY> | undefined> {
    return (await this.#file.read()).get(folder);
  }

  async trusted(): Promise<string[]> {
    const entries = [...(await this.#file.read())];
    return entries.flatMap(([folder, { trusted }]) => (trusted ? [folder] : [])).toSorted();
  }

  async say(folder: string, trusted: boolean, fingerprint?: string): Promise<void> {
    const at = new Date().toISOString();
    await this.#file.change((entries) => entries.set(folder, { trusted, at, fingerprint }));
  }

  /** Deletes a decision. False if there was none. */
  async forget(folder: string): Promise<boolean> {
    let isDeleted = false;
    await this.#file.change((entries) => (isDeleted = entries.delete(folder)));
    return isDeleted;
  }
}

/** A hash of a JSON value, to detect changes. */
export function fingerprintOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
