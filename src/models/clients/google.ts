import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { failureOf } from "../failure/failure.ts";
import { Retries, retries, LONGEST_WAIT } from "../retry/retries.ts";
import { retryingModel } from "../retry/retrying-model.ts";
import type { Silence } from "../retry/silence.ts";
import { brokenOff } from "../retry/stream-ends.ts";
import { sampling, type ClientOptions } from "./clients.ts";
import { geminiRequest } from "./gemini-request.ts";

/** Google's client takes no `fetch`, so its two methods get here what `retryingFetch` does for other clients. */
export async function createGoogle(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatGoogleGenerativeAI } = await import("@langchain/google-genai");
  const { model, apiKey, baseUrl } = options;
  const { maxTokens: maxOutputTokens, ...rest } = sampling(options);

  class RetryingGoogle extends ChatGoogleGenerativeAI {
    constructor(fields: ConstructorParameters<typeof ChatGoogleGenerativeAI>[0]) {
      super(fields);
      addRetries(Reflect.get(this, "client"), options);
    }
  }

  const fields = { model, apiKey, baseUrl, maxRetries: 0, ...rest };
  const client = new RetryingGoogle({ ...fields, maxOutputTokens });
  return retryingModel(client, options.maxRetries);
}

/** The methods of Google's client that LangChain uses. */
interface GoogleClient {
  generateContent(request: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
  generateContentStream(request: unknown, options?: { signal?: AbortSignal }): Promise<GoogleStream>;
}

interface GoogleStream {
  stream: AsyncIterable<Piece>;
  response: Promise<unknown>;
}

interface Piece {
  candidates?: { finishReason?: string }[];
  promptFeedback?: { blockReason?: string };
  usageMetadata?: object;
}

function addRetries(client: GoogleClient, { maxRetries, newSilence }: ClientOptions): void {
  const generate = client.generateContent.bind(client);
  const generateStream = client.generateContentStream.bind(client);

  /** Sends a request, with retries. */
  const send = async <T>(
    request: (signal: AbortSignal) => Promise<T>,
    callSignal: AbortSignal | undefined,
  ): Promise<{ answer: T; silence: Silence }> => {
    const attempts = retries.getStore() ?? new Retries(maxRetries);
    // LangChain passes the signal only when streaming.
    const cancel = callSignal ?? attempts.signal;
    for (;;) {
      const silence = newSilence();
      const signal = cancel ? AbortSignal.any([cancel, silence.signal]) : silence.signal;
      try {
        return { answer: await explained(silence, request(signal)), silence };
      } catch (error) {
        const { kind, status } = failureOf(error);
        const reason = TRANSIENT[kind];
        const requestedWait = requestedDelay(error);
        const mayRetry = reason !== undefined && (requestedWait ?? 0) <= LONGEST_WAIT;
        if (!mayRetry || !attempts.areLeft || cancel?.aborted) throw error;
        await attempts.wait(`${reason}, ${status}`, { requestedWait, signal: cancel });
      }
    }
  };

  const own: GoogleClient = {
    generateContent: async (request, options) =>
      (
        await send(
          async (signal) => generate(geminiRequest(request), { ...options, signal }),
          options?.signal,
        )
      ).answer,
    generateContentStream: async (request, options) => {
      const { answer, silence } = await send(
        async (signal) => generateStream(geminiRequest(request), { ...options, signal }),
        options?.signal,
      );
      // No one awaits the second copy of the answer: its failure would end the process.
      answer.response.catch(() => {});
      return { ...answer, stream: completeStream(answer.stream, silence) };
    },
  };
  Object.assign(client, own);
}

/** The pieces of an answer. Throws if the server falls silent, or if no piece is marked as the last one. */
async function* completeStream(stream: AsyncIterable<Piece>, silence: Silence): AsyncGenerator<Piece> {
  const pieces = stream[Symbol.asyncIterator]();
  let isWhole = false;
  for (;;) {
    const { done, value } = await explained(silence, pieces.next());
    if (done) break;
    isWhole ||= Boolean(value.candidates?.[0]?.finishReason ?? value.promptFeedback?.blockReason);
    // Every piece has the usage so far, and LangChain would add up the cached tokens.
    if (!isWhole) delete value.usageMetadata;
    yield value;
  }
  if (!isWhole) throw brokenOff();
}

/** Throws the reason of an abort, which Google's client drops. */
async function explained<T>(silence: Silence, answer: Promise<T>): Promise<T> {
  return silence.limit(answer).catch((error: unknown) => {
    throw silence.signal.aborted ? silence.signal.reason : error;
  });
}

const TRANSIENT: Partial<Record<string, string>> = {
  "rate-limit": "too many requests",
  server: "server busy",
};

/** The delay in milliseconds that Google requests in an error, not in a header. */
function requestedDelay(error: unknown): number | undefined {
  const { errorDetails } = error as { errorDetails?: { retryDelay?: string }[] };
  const delay = errorDetails?.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const seconds = Number.parseFloat(delay ?? "");
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}
