import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { defaultStatePath } from "../storage/index.ts";
import type { Environment } from "./places.ts";
import { isRule } from "./rules.ts";
import { UserFile } from "./user-file.ts";

/** Rules that a user has allowed for good in a folder. Kept outside the folder, by real path. */
export class Allowed {
  readonly #file: UserFile<unknown[]>;
  readonly #dir: string;

  constructor(dir: string, env: Environment) {
    this.#file = new UserFile(join(dirname(defaultStatePath(env)), "allowed.json"), z.array(z.unknown()));
    this.#dir = dir;
  }

  get file(): string {
    return this.#file.path;
  }

  /**
   * An entry that is no rule allows nothing and does not invalidate the others. Throws `invalid-options` where the file
   * cannot be read: who agreed to something wonders why they are asked again.
   */
  async rules(): Promise<string[]> {
    return ((await this.#file.read()).get(await this.#folder()) ?? []).filter(isRule);
  }

  /** Throws `invalid-options` for what is no rule, and where the file cannot be read. */
  async add(rules: readonly string[]): Promise<void> {
    const wrong = rules.find((rule) => !isRule(rule));
    if (wrong !== undefined) {
      const text = `${JSON.stringify(wrong)} is no rule: it is a tool, such as write_file, or execute(git push *).`;
      throw new HarnessError("invalid-options", text);
    }
    await this.#change((known) => [...new Set([...known, ...rules])]);
  }

  /** Takes a rule back. False when there is none. */
  async remove(rule: string): Promise<boolean> {
    const isKnown = (await this.rules()).includes(rule);
    if (isKnown) await this.#change((known) => known.filter((one) => one !== rule));
    return isKnown;
  }

  async #change(make: (rules: readonly string[]) => string[]): Promise<void> {
    const folder = await this.#folder();
    await this.#file.change((folders) => {
      folders.set(folder, make((folders.get(folder) ?? []).filter(isRule)));
    });
  }

  #folder(): Promise<string> {
    return realpath(this.#dir).catch(() => this.#dir);
  }
}
