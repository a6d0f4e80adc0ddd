import { AsyncLocalStorage } from "node:async_hooks";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { retryingModel } from "../retry/retrying-model.ts";
import { sampling, type ClientOptions } from "./clients.ts";

/** The signal of the call under way. */
const signals = new AsyncLocalStorage<AbortSignal | undefined>();

/**
 * LangChain's client for Ollama looks at its signal only between two pieces of an answer: of a cancelled call the
 * server would never hear, and go on to its end. Here the signal reaches the request.
 */
export async function createOllama(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatOllama } = await import("@langchain/ollama");
  const { model, baseUrl, fetch } = options;
  const { maxTokens: numPredict, ...rest } = sampling(options);

  class CancellableOllama extends ChatOllama {
    override async *_streamResponseChunks(
      ...[messages, call, run]: Parameters<InstanceType<typeof ChatOllama>["_streamResponseChunks"]>
    ): ReturnType<InstanceType<typeof ChatOllama>["_streamResponseChunks"]> {
      const pieces = super._streamResponseChunks(messages, call, run);
      for (;;) {
        const { done, value } = await signals.run(call.signal, async () => pieces.next());
        if (done) return;
        yield value;
      }
    }
  }

  const client = new CancellableOllama({
    model,
    baseUrl,
    fetch: async (input, init) => fetch(input, { ...init, ...withSignal(init?.signal) }),
    ...rest,
    ...(numPredict !== undefined && { numPredict }),
  });
  return retryingModel(client, options.maxRetries);
}

function withSignal(own: AbortSignal | null | undefined): { signal?: AbortSignal } {
  const both = [own, signals.getStore()].filter((signal) => signal instanceof AbortSignal);
  return both.length > 0 ? { signal: AbortSignal.any(both) } : {};
}
