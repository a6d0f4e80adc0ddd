import { HarnessError } from "../errors.ts";
import { PROVIDERS, type Provider } from "./clients/providers.ts";
import { read, type Environment } from "./secrets/index.ts";

/** A provider and the model it should run. */
export interface Choice {
  id: string;
  provider: Provider;
  model: string;
}

/**
 * Reads `provider:model`. The provider alone means its default model. The model alone will do where its name can
 * only be one provider's: `gpt-5` and `o3` are OpenAI's, `claude-…` Anthropic's, `gemini-…` Google's.
 */
export function readModelName(text: string, env: Environment): Choice {
  const [, before = "", model = ""] = /^([^:]*):?(.*)$/s.exec(text.trim()) ?? [];
  const id = before.toLowerCase().replaceAll("_", "-");
  if (Object.hasOwn(PROVIDERS, id)) return withModel(id, model, env);
  const owner = Object.keys(PROVIDERS).find((name) => PROVIDERS[name]?.owns?.test(text.trim()));
  if (owner) return withModel(owner, text.trim(), env);

  const known = Object.keys(PROVIDERS).join(", ");
  if (model === "") {
    throw new HarnessError(
      "invalid-model",
      `The model "${text}" has no provider; write provider:model, such as openai:${text}. Providers: ${known}.`,
    );
  }
  const meant = nearestProvider(id);
  // Ollama's own names have a colon too.
  const advice = meant ? `do you mean ${meant}:${model}?` : `write provider:model, such as ollama:${text}.`;
  throw new HarnessError(
    "invalid-model",
    `There is no provider "${before}" for the model "${text}"; ${advice} Providers: ${known}.`,
  );
}

/** The provider whose name has most pairs of letters of this one, and at least half of all. */
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

function withModel(id: string, given: string, env: Environment): Choice {
  const provider = PROVIDERS[id]!;
  const model = given || read(env, provider.modelVariable) || provider.model;
  if (model) return { id, provider, model };
  const variable = provider.modelVariable ? `set ${provider.modelVariable}, or ` : "";
  throw new HarnessError("missing-setting", `${id} needs a model name: ${variable}write ${id}:name.`);
}
