import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { defaultStatePath } from "../storage/index.ts";
import type { Environment } from "./places.ts";
import { isRule } from "./rules.ts";
import { UserFile } from "./user-file.ts";

/** Rules that a user has allowed permanently in a folder. Stored outside the folder, under its real path. */
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
   * Skips entries that are not valid rules. Throws `invalid-options` if the file cannot be read: without the error a user
   * would be asked again for what they have allowed, and not know why.
   */
  async rules(): Promise<string[]> {
    return ((await this.#file.read()).get(await this.#folder()) ?? []).filter(isRule);
  }

  /** Throws `invalid-options` for a text that is not a rule, or if the file cannot be read. */
  async add(rules: readonly string[]): Promise<void> {
    const invalid = rules.find((rule) => !isRule(rule));
    if (invalid !== undefined) {
      const text = `${JSON.stringify(invalid)} is no rule: it is a tool, such as write_file, or execute(git push *).`;
      throw new HarnessError("invalid-options", text);
    }
    await this.#change((current) => [...new Set([...current, ...rules])]);
  }

  /** Removes a rule. False if there is no such rule. */
  async remove(rule: string): Promise<boolean> {
    const isAllowed = (await this.rules()).includes(rule);
    if (isAllowed) await this.#change((current) => current.filter((one) => one !== rule));
    return isAllowed;
  }

  async #change(update: (rules: readonly string[]) => string[]): Promise<void> {
    const folder = await this.#folder();
    await this.#file.change((folders) => {
      folders.set(folder, update((folders.get(folder) ?? []).filter(isRule)));
    });
  }

  #folder(): Promise<string> {
    return realpath(this.#dir).catch(() => this.#dir);
  }
}
