import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ChatMistralAIInput } from "@langchain/mistralai";
import { retryingModel } from "../retry/retrying-model.ts";
import { sampling, type ClientOptions } from "./clients.ts";

type HttpClient = NonNullable<ChatMistralAIInput["httpClient"]>;

/** Mistral's client takes no `fetch`, but something that sends requests. */
export async function createMistral(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatMistralAI } = await import("@langchain/mistralai");
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
  return retryingModel(new ChatMistralAI(fields), options.maxRetries);
}
