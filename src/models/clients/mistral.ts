import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatMistralAIInput } from "@langchain/mistralai";
import { retryingModel } from "../retry/retrying-model.ts";
import { sampling, type ClientOptions } from "./clients.ts";
import { fitted } from "./fitted.ts";

type HttpClient = NonNullable<ChatMistralAIInput["httpClient"]>;

/** Mistral's client takes no `fetch`, but something that sends requests. */
export async function createMistral(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatMistralAI } = await import("@langchain/mistralai");
  const messages = await import("@langchain/core/messages");
  const { model, apiKey, baseUrl, fetch } = options;
  const own: Pick<HttpClient, "request"> = {
    request: async (request) => {
      const { url, method, headers, signal } = request;
      // A request can be sent only once, what it is made of as often as need be.
      return fetch(url, { method, headers, signal, body: await request.text() });
    },
  };
  // Nothing else is called of it as long as no hooks are added, and its class belongs to a package of theirs.
  const httpClient = own as HttpClient;
  const fields = { model, apiKey, serverURL: baseUrl, httpClient, maxRetries: 0, ...sampling(options) };
  return retryingModel(
    fitted(new ChatMistralAI(fields), { messages: inOrder(messages) }),
    options.maxRetries,
  );
}

/** Stands between a result and a user's message, where Mistral's API wants an answer. */
const BRIDGE = "Noted.";

/**
 * Messages as Mistral's API takes them from its client. That client drops text beside calls and fails over thoughts, so
 * the text goes first, in a message of its own, without the thoughts.
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
