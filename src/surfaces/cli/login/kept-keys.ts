import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { attempt } from "../../../errors.ts";
import { userPlaces, type Environment, UserFile } from "../../../project/index.ts";

/** The credential store of the system: Keychain, Credential Manager, Secret Service. Throws if there is none. */
export interface SystemStore {
  get: (variable: string) => string | null;
  /** What another process reads after the next start of the machine. */
  getLater: (variable: string) => string | null;
  set: (variable: string, value: string) => void;
  remove: (variable: string) => void;
  /** Whether a copy is in the kernel's keyring, which may refuse both to show and to remove it. */
  isInKernel: (variable: string) => boolean;
}

const SERVICE = "holdfast";

/** The entry with which Holdfast tries the store: a store that fails may still have stored the value. */
const PROBE = "HOLDFAST_PROBE";

async function systemStore(): Promise<SystemStore> {
  const { Entry } = await import("@napi-rs/keyring");
  const entry = (variable: string) => new Entry(SERVICE, variable);
  return {
    get: (variable) => entry(variable).getPassword(),
    getLater: (variable) => (isInKernel(variable) ? null : getInOtherProcess(variable)),
    set: (variable, value) => entry(variable).setPassword(value),
    remove: (variable) => void entry(variable).deletePassword(),
    isInKernel,
  };
}

/**
 * Whether a value is in the kernel's keyring: where Linux has no Secret Service, the package keeps keys there. Other
 * sessions do not see them, and the next start of the machine loses them.
 */
function isInKernel(variable: string): boolean {
  const keys = attempt(() => readFileSync("/proc/keys", "utf8")) ?? "";
  return keys.includes(`${variable}@${SERVICE}`);
}

function getInOtherProcess(variable: string): string | null {
  const script =
    "const [, place, service, variable] = process.argv; const { Entry } = await import(place); process.stdout.write(new Entry(service, variable).getPassword() ?? '')";
  const words = [
    "--input-type=module",
    "--eval",
    script,
    import.meta.resolve("@napi-rs/keyring"),
    SERVICE,
    variable,
  ];
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: "utf8", timeout: 20_000 });
  return status === 0 ? stdout : null;
}

function noStore(): Promise<SystemStore> {
  return Promise.reject(new Error("The system's credential store is switched off."));
}

/** A value in the file itself, or a reference to the credential store. */
const ENTRY = z.union([z.object({ value: z.string() }), z.object({ isInSystem: z.literal(true) })]);

/**
 * Keys and addresses of providers from `holdfast login`, by variable: in the credential store of the system, or in a
 * file that only the user can read. Every method throws `invalid-options` if the file cannot be read.
 */
export class KeptKeys {
  readonly #entries: UserFile<z.output<typeof ENTRY>>;
  readonly #system: () => Promise<SystemStore>;

  /** `HOLDFAST_KEYS=file` disables the credential store. */
  constructor(env: Environment, system: () => Promise<SystemStore> = systemStore) {
    this.#entries = new UserFile(join(userPlaces(env).config, "keys.json"), ENTRY, "variables");
    this.#system = env["HOLDFAST_KEYS"] === "file" ? noStore : system;
  }

  get file(): string {
    return this.#entries.path;
  }

  /** All values, except those that are missing in the credential store. */
  async all(): Promise<Record<string, string>> {
    const entries = [...(await this.#entries.read())];
    const needsSystem = entries.some(([, one]) => "isInSystem" in one);
    const system = needsSystem ? await this.#system().catch(() => undefined) : undefined;
    const values = entries.map(([variable, one]) => [
      variable,
      "value" in one ? one.value : attempt(() => system?.get(variable)),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value));
  }

  /** Stores a value. Returns where it is stored. */
  async keep(variable: string, value: string): Promise<"system" | "file"> {
    const system = await this.#system().catch(() => undefined);
    const isInSystem = system !== undefined && isReliable(system) && store(system, variable, value);
    // An earlier login may have left a copy.
    if (!isInSystem) attempt(() => system?.remove(variable));
    await this.#entries.change((entries) => entries.set(variable, isInSystem ? { isInSystem } : { value }));
    return isInSystem ? "system" : "file";
  }

  /** Deletes variables. Returns those that existed, and those of which a copy is left in the kernel's keyring. */
  async forget(variables: readonly string[]): Promise<{ forgotten: string[]; left: string[] }> {
    const stored = await this.#entries.read();
    const system = await this.#system().catch(() => undefined);
    // An earlier login, or one with another home folder, may have left a copy.
    const isRemoved = (variable: string): boolean =>
      attempt(() => {
        const isThere = system !== undefined && system.get(variable) !== null;
        if (isThere) system.remove(variable);
        return isThere;
      }) ?? false;
    const forgotten = variables.filter((variable) => isRemoved(variable) || stored.has(variable));
    await this.#entries.change((entries) => {
      for (const variable of forgotten) entries.delete(variable);
    });
    return { forgotten, left: variables.filter((variable) => system?.isInKernel(variable)) };
  }
}

/** Whether another process reads from a store later what this one writes to it. Tries it with a random value. */
function isReliable(system: SystemStore): boolean {
  const value = crypto.randomUUID();
  const isKept = store(system, PROBE, value) && attempt(() => system.getLater(PROBE)) === value;
  attempt(() => system.remove(PROBE));
  return isKept;
}

/** Stores a value, and reads it back. */
function store(system: SystemStore, variable: string, value: string): boolean {
  return (
    attempt(() => {
      system.set(variable, value);
      return system.get(variable) === value;
    }) ?? false
  );
}

/** The original environment of each environment with stored keys. */
const originals = new WeakMap<Environment, Environment>();

/** Adds the keys that are stored now to an environment. A variable that is set wins. */
export async function withKeptKeys(env: Environment): Promise<Environment> {
  const original = originals.get(env) ?? env;
  const keys = await new KeptKeys(original).all();
  const set = Object.entries(original).filter(([variable, value]) => value?.trim() || !(variable in keys));
  const merged = { ...keys, ...Object.fromEntries(set) };
  originals.set(merged, original);
  return merged;
}
