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

/** The clients that take these settings, and what they call the longest answer. */
const MAX_TOKENS: Record<string, string> = {
  ChatOpenAI: "maxTokens",
  ChatAnthropic: "maxTokens",
  ChatGroq: "maxTokens",
  ChatMistralAI: "maxTokens",
  ChatOllama: "numPredict",
  ChatGoogleGenerativeAI: "maxOutputTokens",
};

/**
 * The model with other settings, on a copy. Throws `invalid-options` where they would have no effect: on a client
 * that is not known here, or for a model that does not take them. `owner`: whose settings they are, for the message.
 */
export function withSettings(model: BaseChatModel, settings: ModelSettings, owner: string): BaseChatModel {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  if (given.length === 0) return model;
  const refuse = (reason: string): never => {
    const keys = given.map(([key]) => `modelSettings.${key}`).join(", ");
    throw new HarnessError("invalid-options", `${owner}: ${keys} cannot be used: ${reason}.`);
  };
  return changed(model, (chosen) => {
    const client = clientName(chosen);
    const maxTokens = Object.hasOwn(MAX_TOKENS, client) ? MAX_TOKENS[client] : undefined;
    if (maxTokens === undefined) {
      const known = Object.keys(MAX_TOKENS).join(", ");
      return refuse(`${client} is none of ${known}; give the sub-agent a \`model\` of its own`);
    }
    const fields = given.map(([key, value]) => [key === "maxTokens" ? maxTokens : key, value]);
    const copy = copyWith(chosen, Object.fromEntries(fields));
    const problem = problemOf(copy);
    return problem === undefined ? copy : refuse(problem);
  });
}

/** A client's objection to its settings: Anthropic's knows the models that take no temperature. */
function problemOf(model: BaseChatModel): string | undefined {
  try {
    model.invocationParams({});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
