import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { patchModel } from "../patched-model.ts";
import {
  answersWithCalls,
  adaptRequests,
  adaptingFetch,
  withFieldsFrom,
  type RequestAdapter,
} from "./adapt-requests.ts";
import { createCompatible, type ClientOptions } from "./clients.ts";

/**
 * DeepSeek's API refuses a request in which an earlier turn with tool calls lacks its `reasoning_content`. LangChain's
 * client reads that field and does not send it.
 */
const ADAPTER: RequestAdapter = {
  body: (body, messages) => {
    const { model, thinking } = body as { model?: string; thinking?: { type?: string } };
    const isThinking = thinking ? thinking.type !== "disabled" : model !== "deepseek-chat";
    if (!isThinking) return body;
    return withFieldsFrom(
      body,
      ({ role, tool_calls: calls = [] }) => role === "assistant" && calls.length > 0,
      answersWithCalls(messages),
      // The field is required, even for turns of another model without thoughts.
      ({ additional_kwargs: { reasoning_content: thoughts } }) => ({
        reasoning_content: typeof thoughts === "string" ? thoughts : "",
      }),
    );
  },
};

/** Clients that send thoughts back, including copies. These may think and call tools. */
const senders = new WeakSet<BaseChatModel>();

export async function createDeepSeek(options: ClientOptions): Promise<BaseChatModel> {
  const client = await createCompatible({ ...options, fetch: adaptingFetch(options.fetch, ADAPTER) });
  return patchModel(adaptRequests(client, ADAPTER), (one) => void senders.add(one));
}

/** Whether a client sends thoughts back. */
export function sendsThoughts(model: BaseChatModel): boolean {
  return senders.has(model);
}
