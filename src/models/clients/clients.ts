import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { retryingModel } from "../retry/retrying-model.ts";
import type { Silence } from "../retry/silence.ts";
import { fitted } from "./fitted.ts";

/** Options of every client. */
export interface ClientOptions {
  model: string;
  apiKey: string;
  baseUrl: string;
  temperature?: number;
  maxTokens?: number;
  /** The window to ask of a server that has none of its own. */
  contextTokens?: number;
  maxRetries: number;
  /** Retries and gives up by itself: a client that takes it does neither. */
  fetch: typeof fetch;
  /** Gives up one request: for a client that takes no `fetch`. */
  newSilence: () => Silence;
}

/** A client's own clock would count our retries too. */
const NO_LIMITS = { maxRetries: 0, timeout: 2 ** 31 - 1 };
/** Silences the clients of OpenAI and Anthropic, which also throw what they log. */
const SILENT = { logLevel: "off" } as const;

export async function createOpenAI(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatOpenAI } = await import("@langchain/openai");
  return retryingModel(new ChatOpenAI(openAIFields(options)), options.maxRetries);
}

/** Servers that speak OpenAI's older protocol, whatever their models are called. */
export async function createCompatible(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatOpenAI } = await import("@langchain/openai");
  const { configuration, ...fields } = openAIFields({ ...options, fetch: readingThoughts(options.fetch) });
  // The ids of an OpenAI account would be read from the environment and sent along.
  const anonymous = { ...configuration, organization: null, project: null };
  const client = new ChatOpenAI({ ...fields, configuration: anonymous, useResponsesApi: false });
  return retryingModel(client, options.maxRetries);
}

/**
 * A `fetch` whose answers have thoughts where LangChain's client reads them. OpenRouter and newer servers call them
 * `reasoning`. Quotes inside a text are escaped, so what is replaced is a name.
 */
function readingThoughts(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const { body, ok, status, statusText, headers } = response;
    if (!body || !ok) return response;
    let rest = "";
    const renamed = (text: string): string => text.replaceAll(/"reasoning":\s*"/g, '"reasoning_content":"');
    const rename = new TransformStream<string, string>({
      transform: (piece, controller) => {
        const lines = (rest + piece).split("\n");
        rest = lines.pop()!;
        if (lines.length > 0) controller.enqueue(renamed(`${lines.join("\n")}\n`));
      },
      flush: (controller) => controller.enqueue(renamed(rest)),
    });
    const text = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(rename)
      .pipeThrough(new TextEncoderStream());
    return new Response(text, { status, statusText, headers });
  };
}

function openAIFields(options: ClientOptions) {
  const { model, apiKey, baseUrl, fetch } = options;
  const configuration = { baseURL: baseUrl, fetch, ...SILENT };
  return { model, apiKey, configuration, ...sampling(options), ...NO_LIMITS };
}

export async function createAnthropic(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatAnthropic } = await import("@langchain/anthropic");
  const { model, apiKey, baseUrl, fetch } = options;
  const client = new ChatAnthropic({
    model,
    apiKey,
    anthropicApiUrl: baseUrl,
    maxRetries: 0,
    clientOptions: { fetch, ...NO_LIMITS, ...SILENT },
    ...sampling(options),
  });
  return retryingModel(client, options.maxRetries);
}

export async function createGroq(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatGroq } = await import("@langchain/groq");
  const { model, apiKey, baseUrl, fetch } = options;
  const client = new ChatGroq({ model, apiKey, baseUrl, fetch, ...sampling(options), ...NO_LIMITS });
  return retryingModel(fitted(client, { messages: plain }), options.maxRetries);
}

/** Messages without names, and prompts as texts: Groq's API refuses the one and anything but the other. */
function plain(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.map((message) => {
    const isPlain =
      message.name === undefined && (message.type !== "system" || typeof message.content === "string");
    if (isPlain) return message;
    const content = message.type === "system" ? { content: message.text } : {};
    return Object.assign(Object.create(Object.getPrototypeOf(message) as object), message, {
      name: undefined,
      ...content,
    }) as BaseMessage;
  });
}

/** The options of the answer that are set. */
export function sampling({ temperature, maxTokens }: ClientOptions): {
  temperature?: number;
  maxTokens?: number;
} {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}
