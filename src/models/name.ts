import { HarnessError } from "../errors.ts";
import { PROVIDERS, type Provider } from "./clients/providers.ts";
import { read, type Environment } from "./secrets/index.ts";

/** A provider and one of its models. */
export interface Choice {
  id: string;
  provider: Provider;
  model: string;
}

/**
 * Parses `provider:model`. A provider alone means its default model. A model alone is enough if only one provider has
 * such names: `gpt-5` and `o3` are OpenAI's, `claude-…` Anthropic's, `gemini-…` Google's.
 */
export function readModelName(text: string, env: Environment): Choice {
  const [, before = "", model = ""] = /^([^:]*):?(.*)$/s.exec(text.trim()) ?? [];
  const id = before.toLowerCase().replaceAll("_", "-");
  if (Object.hasOwn(PROVIDERS, id)) return withModel(id, model, env);
  const owner = Object.keys(PROVIDERS).find((name) => PROVIDERS[name]?.owns?.test(text.trim()));
  if (owner) return withModel(owner, text.trim(), env);

  const providers = Object.keys(PROVIDERS).join(", ");
  if (model === "") {
    throw new HarnessError(
      "invalid-model",
      `The model "${text}" has no provider; write provider:model, such as openai:${text}. Providers: ${providers}.`,
    );
  }
  const nearest = nearestProvider(id);
  // Ollama's model names have a colon too.
  const advice = nearest
    ? `do you mean ${nearest}:${model}?`
    : `write provider:model, such as ollama:${text}.`;
  throw new HarnessError(
    "invalid-model",
    `There is no provider "${before}" for the model "${text}"; ${advice} Providers: ${providers}.`,
  );
}

/** The provider whose name shares most letter pairs with `id`, at least half. */
function nearestProvider(id: string): string | undefined {
  const pairs = (word: string): string[] =>
    Array.from({ length: word.length }, (_, at) => ` ${word}`.slice(at, at + 2));
  const likeness = (name: string): number => {
    const [own, others] = [pairs(id), pairs(name)];
    return (2 * own.filter((pair) => others.includes(pair)).length) / (own.length + others.length);
  };
  const ranked = Object.keys(PROVIDERS).toSorted((a, b) => likeness(b) - likeness(a));
  return likeness(ranked[0]!) >= 0.5 ? ranked[0] : undefined;
}

function withModel(id: string, name: string, env: Environment): Choice {
  const provider = PROVIDERS[id]!;
  const model = name || read(env, provider.modelVariable) || provider.model;
  if (model) return { id, provider, model };
  const variable = provider.modelVariable ? `set ${provider.modelVariable}, or ` : "";
  throw new HarnessError("missing-setting", `${id} needs a model name: ${variable}write ${id}:name.`);
}
