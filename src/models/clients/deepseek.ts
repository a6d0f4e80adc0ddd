import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { patchModel } from "../patched-model.ts";
import { createCompatible, type ClientOptions } from "./clients.ts";
import { callersAmong, fitted, fittingFetch, withOrigins, type Fit } from "./fitted.ts";

/**
 * DeepSeek's API wants the thoughts beside a model's calls back in every later request, and refuses it without.
 * LangChain's client reads them and does not send them.
 */
const FIT: Fit = {
  body: (body, messages) => {
    const { model, thinking } = body as { model?: string; thinking?: { type?: string } };
    const isThinking = thinking ? thinking.type !== "disabled" : model !== "deepseek-chat";
    if (!isThinking) return body;
    return withOrigins(
      body,
      ({ role, tool_calls: calls = [] }) => role === "assistant" && calls.length > 0,
      callersAmong(messages),
      // Another model's turn has none, and the field is wanted nevertheless.
      ({ additional_kwargs: { reasoning_content: thoughts } }) => ({
        reasoning_content: typeof thoughts === "string" ? thoughts : "",
      }),
    );
  },
};

/** Clients that send thoughts back, copies included: they may think and call tools. */
const senders = new WeakSet<BaseChatModel>();

export async function createDeepSeek(options: ClientOptions): Promise<BaseChatModel> {
  const client = await createCompatible({ ...options, fetch: fittingFetch(options.fetch, FIT) });
  return patchModel(fitted(client, FIT), (one) => void senders.add(one));
}

/** Tells clients that send thoughts back. */
export function sendsThoughts(model: BaseChatModel): boolean {
  return senders.has(model);
}
