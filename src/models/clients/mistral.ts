import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatMistralAIInput } from "@langchain/mistralai";
import { retryingModel } from "../retry/retrying-model.ts";
import { adaptRequests } from "./adapt-requests.ts";
import { sampling, type ClientOptions } from "./clients.ts";

type HttpClient = NonNullable<ChatMistralAIInput["httpClient"]>;

/** Mistral's client takes an HTTP client in place of a `fetch`. */
export async function createMistral(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatMistralAI } = await import("@langchain/mistralai");
  const messages = await import("@langchain/core/messages");
  const { model, apiKey, baseUrl, fetch } = options;
  const own: Pick<HttpClient, "request"> = {
    request: async (request) => {
      const { url, method, headers, signal } = request;
      // A `Request` can be sent only once, its parts can be sent again for retries.
      return fetch(url, { method, headers, signal, body: await request.text() });
    },
  };
  // Mistral's client calls no other method unless hooks are added, and does not export the class.
  const httpClient = own as HttpClient;
  const fields = { model, apiKey, serverURL: baseUrl, httpClient, maxRetries: 0, ...sampling(options) };
  return retryingModel(
    adaptRequests(new ChatMistralAI(fields), { messages: inOrder(messages) }),
    options.maxRetries,
  );
}

/** The text of an answer between a tool result and a user's message, which Mistral's API requires. */
const BRIDGE = "Noted.";

/**
 * Adapts messages to Mistral's API and client. The client drops text next to tool calls and fails for thoughts, so the
 * text goes into a message before the calls, without the thoughts.
 */
const inOrder =
  ({ AIMessage: Answer }: { AIMessage: typeof AIMessage }) =>
  (messages: readonly BaseMessage[]): BaseMessage[] =>
    messages.flatMap((message, at) => {
      if (message.type === "human" && messages[at - 1]?.type === "tool") return [new Answer(BRIDGE), message];
      if (!Answer.isInstance(message)) return [message];
      const { text, tool_calls: calls = [] } = message;
      if (calls.length === 0) return typeof message.content === "string" ? [message] : [new Answer(text)];
      return [...(text === "" ? [] : [new Answer(text)]), new Answer({ content: "", tool_calls: calls })];
    });
