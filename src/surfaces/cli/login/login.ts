import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { HarnessError } from "../../../errors.ts";
import {
  PROVIDERS,
  type Provider,
  describeModels,
  listModels,
  explainModelError,
  readModelName,
  type Environment,
} from "../../../models/index.ts";
import { parseConfig, userPlaces, rewrite } from "../../../project/index.ts";
import { EXIT } from "../exit-codes.ts";
import { harmless, oneLine, shown, type Harmless } from "../output/index.ts";
import { askForSecret, askForWords, choose, dropTyped } from "../prompts.ts";
import { canAsk, type Terminal } from "../terminal.ts";
import { commandName, refuse } from "../wording.ts";
import { KeptKeys } from "./kept-keys.ts";

export interface LoginFlags {
  provider?: string;
  model?: string;
}

export interface LoginOptions extends LoginFlags {
  /** Whether the login is offered on the way to something else, and may be skipped. */
  isOptional?: boolean;
}

/** Time limits for a local server, and a remote one. */
const TIMEOUT_MS = { local: 1000, remote: 15_000 };
const MAX_TRIES = 3;

/** `holdfast login`: asks for a provider's key, tests it, and stores it with a model. */
export async function login(flags: LoginFlags, terminal: Terminal): Promise<number> {
  const name = await logIn(flags, terminal);
  if (name === undefined) return EXIT.interrupted;
  terminal.stdout.write(shown`Begin with: ${harmless(commandName(terminal.env))}\n`);
  return EXIT.done;
}

/** Asks for a provider, its key and a model, and stores them. Returns the model; undefined if the user cancels. */
export async function logIn(flags: LoginOptions, terminal: Terminal): Promise<string | undefined> {
  const isAsked = canAsk(terminal, {});
  const id = flags.provider ?? (isAsked ? await chooseProvider(terminal, flags) : undefined);
  if ((id === undefined || id === NONE) && isAsked) return undefined;
  if (id === undefined) refuse(`Say which provider: one of ${Object.keys(PROVIDERS).join(", ")}.`);
  const provider = providerNamed(id);
  const access = await accessTo(id, terminal);
  if (access === undefined) return undefined;
  const { variables, names } = access;
  const model = flags.model ?? (isAsked ? await chooseModel(names, provider, terminal) : names?.[0]);
  if (model === undefined && isAsked) return undefined;
  const env = { ...terminal.env, ...variables };
  const parsed = readModelName(`${id}:${model ?? ""}`, env);
  const name = `${parsed.id}:${parsed.model}`;
  await keep(name, variables, terminal);
  return name;
}

/** Asks for a provider. Local servers that answer come first. */
async function chooseProvider(terminal: Terminal, { isOptional }: LoginOptions): Promise<string | undefined> {
  const { env } = terminal;
  const providers = Object.entries(PROVIDERS);
  const local = providers.filter(([, one]) => one.local);
  const running = await Promise.all(
    local.map(async ([id]) =>
      (await listModels(id, { env, timeoutMs: TIMEOUT_MS.local }).catch(() => undefined)) ? [id] : [],
    ),
  );
  const here = new Set(running.flat());
  const hint = (id: string, { needsKey, local: localServer, baseUrl }: Provider): Harmless =>
    here.has(id)
      ? shown`runs here`
      : localServer
        ? shown`not running`
        : needsKey
          ? shown`key`
          : baseUrl
            ? shown``
            : shown`your address`;
  const sorted = providers.toSorted(([one], [other]) => Number(here.has(other)) - Number(here.has(one)));
  const choices = sorted.map(([id, one]) => ({ value: id, label: oneLine(one.label), hint: hint(id, one) }));
  // The user did not ask for a login, and may be typing something else.
  if (isOptional) await dropTyped(terminal);
  return isOptional
    ? choose(shown`No model is set up yet. Which provider?`, [...choices, LATER], terminal)
    : choose(shown`Which provider?`, choices, terminal);
}

const NONE = "";
const LATER = {
  value: NONE,
  label: shown`None for now`,
  hint: shown`offline, it can only survey a directory`,
};

/** Asks for address and key until the provider accepts them. Returns the variables to store, and its models. */
async function accessTo(
  id: string,
  terminal: Terminal,
): Promise<{ variables: Record<string, string>; names: readonly string[] | undefined } | undefined> {
  const { label, endpoints, needsKey, baseUrl: usual } = PROVIDERS[id]!;
  const isAsked = canAsk(terminal, {});
  const [{ baseUrl: address, keys }] = endpoints;
  const variables: Record<string, string> = {};
  for (let left = MAX_TRIES; ; left--) {
    if (usual === undefined && isAsked) {
      const url = await askForWords(shown`Address`, terminal, shown`http://localhost:8000/v1`);
      if (url === undefined) return undefined;
      variables[address] = url;
    }
    const [variable] = keys;
    if (variable !== undefined) {
      const key = isAsked
        ? await askForSecret(oneLine(`Key of ${label}${needsKey ? "" : " (none: Enter)"}`), terminal)
        : await pipedKey(terminal);
      if (key === undefined) return undefined;
      if (key.trim()) variables[variable] = key.trim();
    }
    const env: Environment = { ...terminal.env, ...variables };
    try {
      if (needsKey && !variables[variable!]) throw new HarnessError("missing-setting", "There is no key.");
      return { variables, names: await listModels(id, { env, timeoutMs: TIMEOUT_MS.remote }) };
    } catch (error) {
      const { baseUrl = "" } = describeModels(env).find(({ provider }) => provider === id)!;
      const problem = explainModelError(error, { name: `${id}:`, baseUrl, env });
      if (!isAsked || left <= 1) refuse(problem, error);
      terminal.stdout.write(shown`${oneLine(problem)}\n`);
    }
  }
}

async function pipedKey({ stdin }: Terminal): Promise<string | undefined> {
  return stdin.isTTY ? undefined : readAll(stdin);
}

async function chooseModel(
  names: readonly string[] | undefined,
  { model: usual = "" }: Provider,
  terminal: Terminal,
): Promise<string | undefined> {
  if (!names || names.length === 0)
    return (await askForWords(shown`Model`, terminal, oneLine(usual))) || usual || undefined;
  const sorted = names.toSorted((one, other) => Number(other === usual) - Number(one === usual));
  return choose(
    shown`Which model?`,
    sorted.map((name) => ({ value: name, label: oneLine(name) })),
    terminal,
  );
}

async function keep(name: string, variables: Record<string, string>, terminal: Terminal): Promise<void> {
  const { env, stdout } = terminal;
  const keys = new KeptKeys(env);
  for (const [variable, value] of Object.entries(variables)) {
    const place = await keys.keep(variable, value);
    const where = place === "system" ? "the system's key store" : keys.file;
    stdout.write(shown`${oneLine(`${variable} is kept in ${where}.`)}\n`);
  }
  stdout.write(shown`${oneLine(`${name} is your model, by ${await keepModel(env, name)}.`)}\n`);
}

/** `holdfast logout`: deletes keys and addresses. */
export async function logout({ provider }: LoginFlags, terminal: Terminal): Promise<number> {
  const { env, stdout } = terminal;
  const providers = provider === undefined ? Object.values(PROVIDERS) : [providerNamed(provider)];
  const variables = providers.flatMap(({ endpoints }) =>
    endpoints.flatMap(({ baseUrl, keys }) => [baseUrl, ...keys]),
  );
  const { forgotten, left } = await new KeptKeys(env).forget([...new Set(variables)]);
  const text = forgotten.length > 0 ? `Forgotten: ${forgotten.join(", ")}.` : "Nothing was kept.";
  stdout.write(shown`${oneLine(text)}\n`);
  if (left.length > 0)
    stdout.write(
      shown`${oneLine(`The kernel's keyring still has a copy of ${left.join(", ")}, which other processes of yours may read until the machine restarts. To be safe, revoke the key at the provider.`)}\n`,
    );
  return EXIT.done;
}

/** Throws `invalid-options` for an unknown provider. */
function providerNamed(id: string): Provider {
  if (Object.hasOwn(PROVIDERS, id)) return PROVIDERS[id]!;
  refuse(`There is no provider "${id}": one of ${Object.keys(PROVIDERS).join(", ")}.`);
}

/** Makes a model the default in the user's settings. Returns the file. */
export async function keepModel(env: Environment, model: string): Promise<string> {
  const file = join(userPlaces(env).config, "config.json");
  await rewrite(file, async () => {
    const text = await readFile(file, "utf8").catch(() => "{}");
    return { ...parseConfig(text, file), model };
  });
  return file;
}
