import { AsyncLocalStorage } from "node:async_hooks";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { patchModel } from "../patched-model.ts";
import { withSignal } from "../retry/retries.ts";

/** The body of a request. */
type RequestBody = Record<string, unknown> & { messages?: WireMessage[] };

type WireMessage = Record<string, unknown> & { role?: string; tool_calls?: unknown[] };

/** Changes to the requests of a LangChain client that its provider needs. */
export interface RequestAdapter {
  /** The messages for the client. Default: the call's. */
  messages?: (messages: readonly BaseMessage[]) => BaseMessage[];
  /** The request with fields that the client leaves out. */
  body?: (body: RequestBody, messages: readonly BaseMessage[]) => RequestBody;
}

interface Call {
  messages: readonly BaseMessage[];
  signal: AbortSignal | undefined;
}

/** The current call. Clients do not pass it to their `fetch`, and some not even its signal. */
const calls = new AsyncLocalStorage<Call>();

/** A `fetch` that adapts request bodies, for a client that went through `adaptRequests`. */
export function adaptingFetch(
  fetch: typeof globalThis.fetch,
  { body: adapt }: RequestAdapter,
): typeof globalThis.fetch {
  return async (input, init) => {
    const call = calls.getStore();
    const signal = withSignal(init?.signal, call?.signal);
    if (!adapt || !call || typeof init?.body !== "string") return fetch(input, { ...init, ...signal });
    const body = adapt(JSON.parse(init.body) as RequestBody, call.messages);
    return fetch(input, { ...init, ...signal, body: JSON.stringify(body) });
  };
}

type Streaming = (messages: BaseMessage[], options: object, ...rest: unknown[]) => AsyncGenerator;
type Generating = (messages: BaseMessage[], options: object, ...rest: unknown[]) => Promise<unknown>;

/** Adapts the messages of a client, in place, and makes the call known to its `fetch`. */
export function adaptRequests<Model extends BaseChatModel>(
  model: Model,
  { messages: adapt }: RequestAdapter,
): Model {
  const callOf = (messages: BaseMessage[], options: object): Call => ({
    messages,
    signal: (options as { signal?: AbortSignal }).signal,
  });
  const adapted = (messages: BaseMessage[]): BaseMessage[] => adapt?.(messages) ?? messages;
  return patchModel(model, (client) => {
    const own = client as unknown as Record<string, Generating & Streaming>;
    const { _generate: generate } = own;
    own["_generate"] = async function (this: unknown, messages, options, ...rest) {
      return calls.run(callOf(messages, options), () =>
        generate!.call(this, adapted(messages), options, ...rest),
      );
    } as Generating as never;
    for (const name of ["_streamResponseChunks", "_streamChatModelEvents"]) {
      const stream = own[name];
      if (!stream) continue;
      own[name] = async function* (this: unknown, messages, options, ...rest) {
        const pieces = stream.call(this, adapted(messages), options, ...rest);
        for (;;) {
          // Each step runs in the call's context; the reader's code between steps does not.
          const { done, value } = await calls.run(callOf(messages, options), async () => pieces.next());
          if (done) return;
          yield value;
        }
      } as Streaming as never;
    }
  });
}

/** The answers with tool calls. */
export function answersWithCalls(messages: readonly BaseMessage[]): AIMessage[] {
  const answers = messages.filter(({ type }) => type === "ai") as AIMessage[];
  return answers.filter(({ tool_calls: toolCalls = [] }) => toolCalls.length > 0);
}

/**
 * Adds fields to the matching messages of a request, each from the source at the same position. Returns the request
 * unchanged if their numbers differ.
 */
export function withFieldsFrom<Source>(
  body: RequestBody,
  matches: (message: WireMessage) => boolean,
  sources: readonly Source[],
  fieldsOf: (source: Source) => object,
): RequestBody {
  const { messages = [] } = body;
  const targets = messages.filter(matches);
  if (targets.length !== sources.length) return body;
  return {
    ...body,
    messages: messages.map((message) =>
      matches(message) ? { ...message, ...fieldsOf(sources[targets.indexOf(message)]!) } : message,
    ),
  };
}
