import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { changed } from "./deferred.ts";
import { clientName, copyWith } from "./patched-model.ts";

/** Model settings of one of several agents. */
export const MODEL_SETTINGS = z
  .strictObject({
    model: z.string().min(1).describe("Another model of the same provider."),
    temperature: z.number(),
    maxTokens: z.int().min(1),
  })
  .partial();

export type ModelSettings = z.output<typeof MODEL_SETTINGS>;

/** The supported clients, with their names for `maxTokens`. */
const MAX_TOKENS: Record<string, string> = {
  ChatOpenAI: "maxTokens",
  ChatAnthropic: "maxTokens",
  ChatGroq: "maxTokens",
  ChatMistralAI: "maxTokens",
  ChatOllama: "numPredict",
  ChatGoogleGenerativeAI: "maxOutputTokens",
};

/**
 * A copy of the model with other settings. Throws `invalid-options` for an unsupported client, or for a model that does
 * not take them. `owner`: the owner of the settings, for the message.
 */
export function withSettings(model: BaseChatModel, settings: ModelSettings, owner: string): BaseChatModel {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return model;
  const refuse = (reason: string): never => {
    const keys = entries.map(([key]) => `modelSettings.${key}`).join(", ");
    throw new HarnessError("invalid-options", `${owner}: ${keys} cannot be used: ${reason}.`);
  };
  return changed(model, (chosen) => {
    const client = clientName(chosen);
    const maxTokens = Object.hasOwn(MAX_TOKENS, client) ? MAX_TOKENS[client] : undefined;
    if (maxTokens === undefined) {
      const clients = Object.keys(MAX_TOKENS).join(", ");
      return refuse(`${client} is none of ${clients}; give the sub-agent a \`model\` of its own`);
    }
    const fields = entries.map(([key, value]) => [key === "maxTokens" ? maxTokens : key, value]);
    const copy = copyWith(chosen, Object.fromEntries(fields));
    const problem = problemOf(copy);
    return problem === undefined ? copy : refuse(problem);
  });
}

/** A client's error for its settings: Anthropic's client knows the models that take no temperature. */
function problemOf(model: BaseChatModel): string | undefined {
  try {
    model.invocationParams({});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
