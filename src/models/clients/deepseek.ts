import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { patchModel } from "../patched-model.ts";
import { createCompatible, type ClientOptions } from "./clients.ts";
import { answersWithCalls, fitted, fittingFetch, withFieldsFrom, type Fit } from "./fitted.ts";

/**
 * DeepSeek's API refuses a request in which an earlier turn with tool calls lacks its `reasoning_content`. LangChain's
 * client reads that field and does not send it.
 */
const FIT: Fit = {
  body: (body, messages) => {
    const { model, thinking } = body as { model?: string; thinking?: { type?: string } };
    const isThinking = thinking ? thinking.type !== "disabled" : model !== "deepseek-chat";
    if (!isThinking) return body;
    return withFieldsFrom(
      body,
      ({ role, tool_calls: calls = [] }) => role === "assistant" && calls.length > 0,
      answersWithCalls(messages),
      // The field is required, also for the turn of another model, which has no thoughts.
      ({ additional_kwargs: { reasoning_content: thoughts } }) => ({
        reasoning_content: typeof thoughts === "string" ? thoughts : "",
      }),
    );
  },
};

/** Clients that send thoughts back, copies included: these may think and call tools. */
const senders = new WeakSet<BaseChatModel>();

export async function createDeepSeek(options: ClientOptions): Promise<BaseChatModel> {
  const client = await createCompatible({ ...options, fetch: fittingFetch(options.fetch, FIT) });
  return patchModel(fitted(client, FIT), (one) => void senders.add(one));
}

/** Tells clients that send thoughts back. */
export function sendsThoughts(model: BaseChatModel): boolean {
  return senders.has(model);
}
