import { mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { defaultStatePath } from "../storage/index.ts";
import type { Environment } from "./places.ts";
import { RULE } from "./rules.ts";

const FILE = z.object({
  version: z.literal(1),
  folders: z.record(z.string(), z.array(z.string().regex(RULE))),
});
type Folders = z.output<typeof FILE>["folders"];

/** What a user has agreed to for good in a folder, when they were asked. Kept outside of the folder, by real path. */
export class Allowed {
  readonly #file: string;
  readonly #dir: string;

  constructor(dir: string, env: Environment) {
    this.#file = join(dirname(defaultStatePath(env)), "allowed.json");
    this.#dir = dir;
  }

  get file(): string {
    return this.#file;
  }

  async rules(): Promise<string[]> {
    return (await this.#read())[await this.#folder()] ?? [];
  }

  async add(rules: readonly string[]): Promise<void> {
    await this.#change((known) => [...new Set([...known, ...rules])]);
  }

  /** Takes a rule back. False when there is none. */
  async remove(rule: string): Promise<boolean> {
    const isKnown = (await this.rules()).includes(rule);
    if (isKnown) await this.#change((known) => known.filter((one) => one !== rule));
    return isKnown;
  }

  async #change(make: (rules: readonly string[]) => string[]): Promise<void> {
    const folders = await this.#read();
    const folder = await this.#folder();
    folders[folder] = make(folders[folder] ?? []);
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const draft = `${this.#file}.${process.pid}`;
    const text = JSON.stringify({ version: 1, folders }, undefined, 2);
    await writeFile(draft, `${text}\n`, { mode: 0o600 });
    await rename(draft, this.#file);
  }

  /** A file that cannot be read allows nothing. */
  async #read(): Promise<Folders> {
    try {
      return { ...FILE.parse(JSON.parse(await readFile(this.#file, "utf8"))).folders };
    } catch {
      return {};
    }
  }

  #folder(): Promise<string> {
    return realpath(this.#dir).catch(() => this.#dir);
  }
}
