import type { Attributes } from "./span.ts";

/** `openai:gpt-x` by the GenAI conventions. */
export function modelNames(model: string): Attributes {
  const [provider, ...name] = model.split(":");
  return { "gen_ai.provider.name": provider, "gen_ai.request.model": name.join(":") || provider };
}
