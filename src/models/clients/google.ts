import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { failureOf } from "../failure/failure.ts";
import { Retries, retries, LONGEST_WAIT } from "../retry/retries.ts";
import { retryingModel } from "../retry/retrying-model.ts";
import type { Silence } from "../retry/silence.ts";
import { brokenOff } from "../retry/stream-ends.ts";
import { sampling, type ClientOptions } from "./clients.ts";
import { geminiRequest } from "./gemini-request.ts";

/** Google's client takes no `fetch`: what `patientFetch` does for the others is done here around its two calls. */
export async function createGoogle(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatGoogleGenerativeAI } = await import("@langchain/google-genai");
  const { model, apiKey, baseUrl } = options;
  const { maxTokens: maxOutputTokens, ...rest } = sampling(options);

  class PatientGoogle extends ChatGoogleGenerativeAI {
    constructor(fields: ConstructorParameters<typeof ChatGoogleGenerativeAI>[0]) {
      super(fields);
      makePatient(Reflect.get(this, "client"), options);
    }
  }

  const fields = { model, apiKey, baseUrl, maxRetries: 0, ...rest };
  const client = new PatientGoogle({ ...fields, ...(maxOutputTokens !== undefined && { maxOutputTokens }) });
  return retryingModel(client, options.maxRetries);
}

/** The methods of Google's client that LangChain calls. */
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

function makePatient(client: GoogleClient, { maxRetries, newSilence }: ClientOptions): void {
  const whole = client.generateContent.bind(client);
  const inPieces = client.generateContentStream.bind(client);

  /** Sends a request, again when that may help. */
  const send = async <T>(
    request: (signal: AbortSignal) => Promise<T>,
    given: AbortSignal | undefined,
  ): Promise<{ answer: T; silence: Silence }> => {
    const left = retries.getStore() ?? new Retries(maxRetries);
    // LangChain hands the signal on only where it streams.
    const cancel = given ?? left.signal;
    for (;;) {
      const silence = newSilence();
      const signal = cancel ? AbortSignal.any([cancel, silence.signal]) : silence.signal;
      try {
        return { answer: await explained(silence, request(signal)), silence };
      } catch (error) {
        const { kind, status } = failureOf(error);
        const reason = PASSING[kind];
        const asked = askedDelay(error);
        const isPassing = reason !== undefined && (asked ?? 0) <= LONGEST_WAIT;
        if (!isPassing || !left.areLeft || cancel?.aborted) throw error;
        await left.wait(`${reason}, ${status}`, { asked, signal: cancel });
      }
    }
  };

  const own: GoogleClient = {
    generateContent: async (request, options) =>
      (await send(async (signal) => whole(geminiRequest(request), { ...options, signal }), options?.signal))
        .answer,
    generateContentStream: async (request, options) => {
      const { answer, silence } = await send(
        async (signal) => inPieces(geminiRequest(request), { ...options, signal }),
        options?.signal,
      );
      // Nobody waits for the second copy of the answer: its failure would end the process.
      answer.response.catch(() => {});
      return { ...answer, stream: untilItsEnd(answer.stream, silence) };
    },
  };
  Object.assign(client, own);
}

/** The pieces of an answer. Fails when the server falls silent, and when no piece says that it is the last one. */
async function* untilItsEnd(stream: AsyncIterable<Piece>, silence: Silence): AsyncGenerator<Piece> {
  const pieces = stream[Symbol.asyncIterator]();
  let isWhole = false;
  for (;;) {
    const { done, value } = await explained(silence, pieces.next());
    if (done) break;
    isWhole ||= Boolean(value.candidates?.[0]?.finishReason ?? value.promptFeedback?.blockReason);
    // Every piece counts anew from the beginning, and LangChain adds up what came from the cache.
    if (!isWhole) delete value.usageMetadata;
    yield value;
  }
  if (!isWhole) throw brokenOff();
}

/** Google's client says that it was aborted, and not why. */
async function explained<T>(silence: Silence, answer: Promise<T>): Promise<T> {
  return silence.limit(answer).catch((error: unknown) => {
    throw silence.signal.aborted ? silence.signal.reason : error;
  });
}

const PASSING: Partial<Record<string, string>> = {
  "rate-limit": "too many requests",
  server: "server busy",
};

/** The delay that Google asks for, in milliseconds: it is in the error, and not in a header. */
function askedDelay(error: unknown): number | undefined {
  const { errorDetails } = error as { errorDetails?: { retryDelay?: string }[] };
  const asked = errorDetails?.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const seconds = Number.parseFloat(asked ?? "");
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}
