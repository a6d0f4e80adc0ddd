import { AsyncLocalStorage } from "node:async_hooks";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { patchModel } from "../patched-model.ts";

/** A request as it goes out. */
export type RequestBody = Record<string, unknown> & { messages?: WireMessage[] };

/** A message in a request. */
export type WireMessage = Record<string, unknown> & { role?: string; tool_calls?: unknown[] };

/** Changes to the requests of LangChain's client that its provider needs. */
export interface Fit {
  /** The messages for the client. Default: the call's. */
  messages?: (messages: readonly BaseMessage[]) => BaseMessage[];
  /** The request with the fields that the client leaves out. */
  body?: (body: RequestBody, messages: readonly BaseMessage[]) => RequestBody;
}

interface Call {
  messages: readonly BaseMessage[];
  signal: AbortSignal | undefined;
}

/** The call under way: clients tell their `fetch` nothing about it, and some not even its signal. */
const calls = new AsyncLocalStorage<Call>();

/** A `fetch` whose requests fit, for a client that is `fitted`. */
export function fittingFetch(fetch: typeof globalThis.fetch, { body: fit }: Fit): typeof globalThis.fetch {
  return async (input, init) => {
    const call = calls.getStore();
    const signals = [init?.signal, call?.signal].filter((signal) => signal instanceof AbortSignal);
    const signal = signals.length > 0 ? { signal: AbortSignal.any(signals) } : {};
    if (!fit || !call || typeof init?.body !== "string") return fetch(input, { ...init, ...signal });
    const body = fit(JSON.parse(init.body) as RequestBody, call.messages);
    return fetch(input, { ...init, ...signal, body: JSON.stringify(body) });
  };
}

type Streaming = (messages: BaseMessage[], options: object, ...rest: unknown[]) => AsyncGenerator;
type Generating = (messages: BaseMessage[], options: object, ...rest: unknown[]) => Promise<unknown>;

/** Hands a client messages that fit, and lets its `fetch` know the call. In place. */
export function fitted<Model extends BaseChatModel>(model: Model, { messages: fit }: Fit): Model {
  const callOf = (messages: BaseMessage[], options: object): Call => ({
    messages,
    signal: (options as { signal?: AbortSignal }).signal,
  });
  const given = (messages: BaseMessage[]): BaseMessage[] => fit?.(messages) ?? messages;
  return patchModel(model, (client) => {
    const own = client as unknown as Record<string, Generating & Streaming>;
    const { _generate: generate } = own;
    own["_generate"] = async function (this: unknown, messages, options, ...rest) {
      return calls.run(callOf(messages, options), () =>
        generate!.call(this, given(messages), options, ...rest),
      );
    } as Generating as never;
    for (const name of ["_streamResponseChunks", "_streamChatModelEvents"]) {
      const stream = own[name];
      if (!stream) continue;
      own[name] = async function* (this: unknown, messages, options, ...rest) {
        const pieces = stream.call(this, given(messages), options, ...rest);
        for (;;) {
          // Its own steps alone: whoever reads in between is not part of the call.
          const { done, value } = await calls.run(callOf(messages, options), async () => pieces.next());
          if (done) return;
          yield value;
        }
      } as Streaming as never;
    }
  });
}

/** The answers that have calls. */
export function answersWithCalls(messages: readonly BaseMessage[]): AIMessage[] {
  const answers = messages.filter(({ type }) => type === "ai") as AIMessage[];
  return answers.filter(({ tool_calls: wanted = [] }) => wanted.length > 0);
}

/**
 * Adds fields to the messages of a request that match, each from the source at the same position. Leaves the request as
 * it is where the numbers of both differ.
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
