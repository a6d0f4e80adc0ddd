import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { retryingModel } from "../retry/retrying-model.ts";
import type { Silence } from "../retry/silence.ts";
import { adaptRequests } from "./adapt-requests.ts";

export interface ClientOptions {
  model: string;
  apiKey: string;
  baseUrl: string;
  temperature?: number;
  maxTokens?: number;
  /** The context window to request from a server that lets clients choose it. */
  contextTokens?: number;
  maxRetries: number;
  /** Has retries and time limits, so that a client that takes it needs neither. */
  fetch: typeof fetch;
  /** The time limit of one request, for a client that takes no `fetch`. */
  newSilence: () => Silence;
}

/** Disables a client's own limits, as its clock would include our retries. */
const NO_LIMITS = { maxRetries: 0, timeout: 2 ** 31 - 1 };
/** Disables the logs of the clients of OpenAI and Anthropic, which also throw what they log. */
const SILENT = { logLevel: "off" } as const;

export async function createOpenAI(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatOpenAI } = await import("@langchain/openai");
  return retryingModel(new ChatOpenAI(openAIFields(options)), options.maxRetries);
}

/** A client for servers of OpenAI's chat completions protocol. */
export async function createCompatible(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatOpenAI } = await import("@langchain/openai");
  const { configuration, ...fields } = openAIFields({ ...options, fetch: readingThoughts(options.fetch) });
  // Otherwise the ids of an OpenAI account would be read from the environment and sent along.
  const anonymous = { ...configuration, organization: null, project: null };
  const client = new ChatOpenAI({ ...fields, configuration: anonymous, useResponsesApi: false });
  return retryingModel(client, options.maxRetries);
}

/**
 * A `fetch` that renames the field `reasoning` of OpenRouter and newer servers to `reasoning_content`, which
 * LangChain's client reads. Quotes inside of texts are escaped, so only field names match.
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
  return retryingModel(adaptRequests(client, { messages: plain }), options.maxRetries);
}

/** Messages without names, and system prompts as strings: Groq's API refuses others. */
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

/** The sampling options that are set. */
export function sampling({ temperature, maxTokens }: ClientOptions) {
  return {
    temperature,
    maxTokens,
  };
}
