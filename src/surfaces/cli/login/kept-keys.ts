import { join } from "node:path";
import { z } from "zod";
import { attempt } from "../../../errors.ts";
import { userPlaces, type Environment, UserFile } from "../../../project/index.ts";

/** The system's store for secrets: Keychain, Credential Manager, Secret Service. Throws where there is none. */
export interface SystemStore {
  get: (variable: string) => string | null;
  set: (variable: string, value: string) => void;
  remove: (variable: string) => void;
}

const SERVICE = "holdfast";

async function systemStore(): Promise<SystemStore> {
  const { Entry } = await import("@napi-rs/keyring");
  const entry = (variable: string) => new Entry(SERVICE, variable);
  return {
    get: (variable) => entry(variable).getPassword(),
    set: (variable, value) => entry(variable).setPassword(value),
    remove: (variable) => void entry(variable).deletePassword(),
  };
}

function noStore(): Promise<SystemStore> {
  return Promise.reject(new Error("The system's store is not wanted."));
}

/** A value in the file itself, or in the system's store. */
const KEPT = z.union([z.object({ value: z.string() }), z.object({ isInSystem: z.literal(true) })]);

/**
 * The keys and addresses of providers that a person gave to `holdfast login`, by variable: in the system's store, or
 * else in a file of the user alone, outside every project. Every method throws `invalid-options` if the file cannot be
 * read.
 */
export class KeptKeys {
  readonly #kept: UserFile<z.output<typeof KEPT>>;
  readonly #system: () => Promise<SystemStore>;

  /** `HOLDFAST_KEYS=file` leaves the system's store alone. */
  constructor(env: Environment, system: () => Promise<SystemStore> = systemStore) {
    this.#kept = new UserFile(join(userPlaces(env).config, "keys.json"), KEPT, "variables");
    this.#system = env["HOLDFAST_KEYS"] === "file" ? noStore : system;
  }

  get file(): string {
    return this.#kept.path;
  }

  /** The values. One that is gone from the system's store is left out. */
  async all(): Promise<Record<string, string>> {
    const entries = [...(await this.#kept.read())];
    const needsSystem = entries.some(([, one]) => "isInSystem" in one);
    const system = needsSystem ? await this.#system().catch(() => undefined) : undefined;
    const values = entries.map(([variable, one]) => [
      variable,
      "value" in one ? one.value : attempt(() => system?.get(variable)),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value));
  }

  /** Keeps a value, and says where: in `system`, or in the file. */
  async keep(variable: string, value: string): Promise<"system" | "file"> {
    const system = await this.#system().catch(() => undefined);
    const isInSystem = attempt(() => {
      system?.set(variable, value);
      return system?.get(variable) === value;
    });
    await this.#kept.change((kept) => kept.set(variable, isInSystem ? { isInSystem } : { value }));
    return isInSystem ? "system" : "file";
  }

  /** Forgets variables. Returns those that were kept. */
  async forget(variables: readonly string[]): Promise<string[]> {
    const stored = await this.#kept.read();
    const removals = variables.filter((variable) => stored.has(variable));
    if (removals.length === 0) return [];
    const system = await this.#system().catch(() => undefined);
    for (const variable of removals) attempt(() => system?.remove(variable));
    await this.#kept.change((entries) => {
      for (const variable of removals) entries.delete(variable);
    });
    return removals;
  }
}

/** The environments without kept keys, by those with them. */
const originals = new WeakMap<Environment, Environment>();

/** The environment with the keys that are kept now. A variable that is set wins. */
export async function withKeptKeys(env: Environment): Promise<Environment> {
  const original = originals.get(env) ?? env;
  const keys = await new KeptKeys(original).all();
  const set = Object.entries(original).filter(([variable, value]) => value?.trim() || !(variable in keys));
  const merged = { ...keys, ...Object.fromEntries(set) };
  originals.set(merged, original);
  return merged;
}
