import { readFile, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { defaultStatePath } from "../storage/state-path.ts";
import type { Environment } from "./places.ts";
import { rewrite } from "./rewrite.ts";
import { isRule } from "./rules.ts";

const FILE = z.object({ version: z.literal(1), folders: z.record(z.string(), z.array(z.unknown())) });
type Folders = Record<string, string[]>;

/** Rules that a user has allowed for good in a folder. Kept outside the folder, by real path. */
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

  /** Throws `invalid-options` where the file cannot be read: who agreed to something wonders why they are asked again. */
  async rules(): Promise<string[]> {
    return (await this.#read())[await this.#folder()] ?? [];
  }

  /** Throws `invalid-options` for what is no rule, and where the file cannot be read. */
  async add(rules: readonly string[]): Promise<void> {
    const wrong = rules.find((rule) => !isRule(rule));
    if (wrong !== undefined)
      throw invalid(
        `${JSON.stringify(wrong)} is no rule: it is a tool, such as write_file, or execute(git push *).`,
      );
    await this.#change((known) => [...new Set([...known, ...rules])]);
  }

  /** Takes a rule back. False when there is none. */
  async remove(rule: string): Promise<boolean> {
    const isKnown = (await this.rules()).includes(rule);
    if (isKnown) await this.#change((known) => known.filter((one) => one !== rule));
    return isKnown;
  }

  async #change(make: (rules: readonly string[]) => string[]): Promise<void> {
    await rewrite(this.#file, async () => {
      const folders = await this.#read();
      const folder = await this.#folder();
      folders[folder] = make(folders[folder] ?? []);
      return `${JSON.stringify({ version: 1, folders }, undefined, 2)}\n`;
    });
  }

  /** Reads the file. An invalid rule allows nothing and does not invalidate the others. */
  async #read(): Promise<Folders> {
    try {
      const { folders } = FILE.parse(JSON.parse(await readFile(this.#file, "utf8")));
      return Object.fromEntries(
        Object.entries(folders).map(([folder, rules]) => [folder, rules.filter(isRule)]),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw invalid(`${this.#file} cannot be read: mend it, or delete it to begin anew.`, error);
    }
  }

  #folder(): Promise<string> {
    return realpath(this.#dir).catch(() => this.#dir);
  }
}

function invalid(message: string, cause?: unknown): HarnessError {
  return new HarnessError("invalid-options", message, { cause });
}
