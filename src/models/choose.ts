import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { HarnessError } from "../errors.ts";
import type { ClientOptions } from "./clients/clients.ts";
import { PROVIDERS } from "./clients/providers.ts";
import { chain } from "./failure/error-chain.ts";
import { knownModel } from "./known-models/index.ts";
import { readModelName, type Choice } from "./name.ts";
import { patchModel } from "./patched-model.ts";
import { retryingFetch } from "./retry/retrying-fetch.ts";
import { Silence } from "./retry/silence.ts";
import { read, type Environment, redact, secretsIn, withoutSecrets, type Hide } from "./secrets/index.ts";
import { findSet, pickBaseUrl, pickEndpoint, withoutCredentials, type ModelOptions } from "./settings.ts";

/** Options of `chooseModel`. */
export interface ChooseModelOptions {
  /** A model, its name as `provider:model`, or `demo` for the program that plays `holdfast demo`. */
  model?: BaseChatModel | string;
  /** Default `process.env`. */
  env?: Environment;
  settings?: ModelOptions;
}

/** A model and its name. */
export interface ChosenModel {
  model: BaseChatModel;
  /** `provider:model`. */
  name: string;
  /** The source of the choice: `option`, or the name of a variable. */
  source: string;
  /** The address of requests. Absent for a model that was passed in, and for a program. */
  baseUrl?: string;
}

/** Models that are programs. */
export const PLAYED = ["offline", "demo"] as const;

/** A program in a model's place. `pace`: delays in milliseconds, for a user who watches. */
export async function playedModel(
  name: (typeof PLAYED)[number],
  pace: { thinkMs?: number; wordMs?: number } = {},
): Promise<BaseChatModel> {
  const { OfflineModel } = await import("./offline/model.ts");
  return new OfflineModel({ name, pace });
}

const DEFAULT_RETRIES = 4;
const DEFAULT_TIMEOUT = 300_000;

/**
 * Finds the chat model to use: the one that is passed; `HOLDFAST_MODEL`; DeepAgents' variables
 * (`DEEPAGENTS_MODEL_PROVIDER`, or a local model's name alone); the first provider whose key is set. Sends no request,
 * except one to Ollama for the context window of its model. Throws a `HarnessError` that says what to set or install if
 * there is no model.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { chooseModel } from "holdfast/models";
 *
 * const { model, name, source } = await chooseModel();
 * console.log(`${name}, chosen by ${source}`);
 * const agent = createDeepAgent({ model });
 * ```
 */
export async function chooseModel(options: ChooseModelOptions = {}): Promise<ChosenModel> {
  const { model, env = process.env, settings = {} } = options;
  if (model !== undefined && typeof model !== "string") {
    return { model, name: nameOf(model), source: "option" };
  }
  const requested = model ?? read(env, "HOLDFAST_MODEL");
  const program = PLAYED.find((name) => name === requested?.trim());
  if (program) {
    const from = model === undefined ? "HOLDFAST_MODEL" : "option";
    return { model: await playedModel(program), name: program, source: from };
  }
  const { source, ...choice } = choose(model, env);
  const { baseUrl, apiKey } = address(choice, env, settings);
  const { maxRetries = DEFAULT_RETRIES, timeout = timeoutOf(env), temperature, maxTokens } = settings;
  const contextTokens = settings.contextTokens ?? (Number(read(env, "OLLAMA_CONTEXT_LENGTH")) || undefined);
  const client = await create(choice, {
    model: choice.model,
    apiKey,
    baseUrl,
    maxRetries,
    newSilence: () => new Silence(timeout, withoutCredentials(baseUrl)),
    fetch: retryingFetch({ maxRetries, timeout }),
    temperature,
    maxTokens,
    contextTokens,
  });
  withWindow(client, knownModel(`${choice.id}:${choice.model}`)?.window);
  const secrets = [apiKey, ...secretsIn(baseUrl)];
  const redacting = redactingModel(client, (text) => redact(text, env, secrets));
  return { model: redacting, name: `${choice.id}:${choice.model}`, source, baseUrl };
}

/** Sets the context window of a client that does not know it, so that conversations are summarized in time. */
function withWindow(client: BaseChatModel, window: number | undefined): void {
  if (window === undefined || client.profile?.maxInputTokens !== undefined) return;
  patchModel(client, (one) => {
    Object.defineProperty(one, "profile", { value: { ...one.profile, maxInputTokens: window } });
  });
}

function choose(model: string | undefined, env: Environment): Choice & { source: string } {
  if (model !== undefined) return { ...readModelName(model, env), source: "option" };
  for (const source of ["HOLDFAST_MODEL", "DEEPAGENTS_MODEL_PROVIDER"]) {
    const name = read(env, source);
    if (name) return { ...readModelName(name, env), source };
  }
  const providers = Object.entries(PROVIDERS);
  const variables = [
    ...providers.map(([id, { modelVariable }]) => ({ id, names: modelVariable ? [modelVariable] : [] })),
    ...providers.map(([id, { needsKey, endpoints }]) => ({ id, names: needsKey ? endpoints[0].keys : [] })),
  ];
  for (const { id, names } of variables) {
    const source = findSet(env, names);
    if (source) return { ...readModelName(id, env), source };
  }
  const all = variables.flatMap(({ names }) => names).join(", ");
  throw new HarnessError(
    "no-model",
    `No model is configured. Set HOLDFAST_MODEL to provider:model, such as ollama:qwen3, or one of ${all}.`,
  );
}

function address(
  { id, provider, model }: Choice,
  env: Environment,
  settings: ModelOptions,
): { baseUrl: string; apiKey: string } {
  const endpoint = pickEndpoint(provider, env, settings);
  const baseUrl = pickBaseUrl(provider, env, settings);
  if (baseUrl === undefined) {
    throw new HarnessError(
      "missing-setting",
      `${id}:${model} needs an address: set ${endpoint.baseUrl}, such as http://localhost:8000/v1.`,
    );
  }
  const apiKey = settings.apiKey ?? read(env, findSet(env, endpoint.keys));
  if (apiKey === undefined && provider.needsKey) {
    const variables = endpoint.keys.join(" or ");
    throw new HarnessError("missing-setting", `${id}:${model} needs an API key: set ${variables}.`);
  }
  // Without a key the clients would read one of another provider from the environment.
  return { baseUrl, apiKey: apiKey ?? "none" };
}

function timeoutOf(env: Environment): number {
  const seconds = read(env, "HOLDFAST_TIMEOUT");
  if (seconds === undefined) return DEFAULT_TIMEOUT;
  if (Number(seconds) > 0) return Number(seconds) * 1000;
  throw new HarnessError("invalid-options", `HOLDFAST_TIMEOUT is "${seconds}"; use seconds, such as 600.`);
}

async function create({ id, provider }: Choice, options: ClientOptions): Promise<BaseChatModel> {
  try {
    return await provider.create(options);
  } catch (error) {
    if (!chain(error).some(({ code }) => code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new HarnessError(
      "missing-package",
      `${id} needs the package ${provider.package}. Install it with: npm install ${provider.install}`,
      { cause: error },
    );
  }
}

function nameOf(model: BaseChatModel): string {
  const { ls_provider: provider = "custom", ls_model_name: name } = model.getLsParams({});
  return [provider.replaceAll("_", "-"), ...(name ? [name] : [])].join(":");
}

/**
 * Removes secrets from the errors of a model's calls, in place. Servers repeat requests with their keys, and LangChain
 * passes errors to callbacks, traces, checkpoints and, as tool results, to the next request.
 */
function redactingModel<Model extends BaseChatModel>(model: Model, hide: Hide): Model {
  return patchModel(model, (client) => {
    // oxlint-disable-next-line typescript/unbound-method -- called on `this`: the model may be copied, and the copy changed
    const { _generate, _streamResponseChunks, _streamChatModelEvents } = client;
    const own: Pick<BaseChatModel, "_generate" | "_streamResponseChunks" | "_streamChatModelEvents"> &
      ThisType<BaseChatModel> = {
      async _generate(...args) {
        return _generate.apply(this, args).catch((error: unknown) => {
          throw withoutSecrets(error, hide);
        });
      },
      async *_streamResponseChunks(...args) {
        yield* hiding(_streamResponseChunks.apply(this, args), hide);
      },
      async *_streamChatModelEvents(...args) {
        yield* hiding(_streamChatModelEvents.apply(this, args), hide);
      },
    };
    Object.assign(client, own);
  });
}

async function* hiding<T>(pieces: AsyncGenerator<T>, hide: Hide): AsyncGenerator<T> {
  try {
    yield* pieces;
  } catch (error) {
    throw withoutSecrets(error, hide);
  }
}
