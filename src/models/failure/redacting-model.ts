import { types } from "node:util";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { patchModel } from "../patched-model.ts";

type Hide = (text: string) => string;

/**
 * Takes secrets out of the errors of a model's calls, in place. Servers repeat what they were sent, key and all, and
 * LangChain hands errors on to callbacks, traces, checkpoints and, as a tool's result, to the next request: this is
 * the one door that all of them come through.
 */
export function redactingModel<Model extends BaseChatModel>(model: Model, hide: Hide): Model {
  return patchModel(model, (client) => {
    // oxlint-disable-next-line typescript/unbound-method -- called on `this`: the model may be copied, and the copy changed
    const { _generate, _streamResponseChunks, _streamChatModelEvents } = client;
    const own: Pick<BaseChatModel, "_generate" | "_streamResponseChunks" | "_streamChatModelEvents"> &
      ThisType<BaseChatModel> = {
      async _generate(...args) {
        return _generate.apply(this, args).catch((error: unknown) => {
          throw withoutSecrets(error, hide);
        });
      },
      async *_streamResponseChunks(...args) {
        yield* hiding(_streamResponseChunks.apply(this, args), hide);
      },
      async *_streamChatModelEvents(...args) {
        yield* hiding(_streamChatModelEvents.apply(this, args), hide);
      },
    };
    Object.assign(client, own);
  });
}

async function* hiding<T>(pieces: AsyncGenerator<T>, hide: Hide): AsyncGenerator<T> {
  try {
    yield* pieces;
  } catch (error) {
    throw withoutSecrets(error, hide);
  }
}

/** The same error, which stays what it is to whoever looks at its class, status or code. */
export function withoutSecrets(value: unknown, hide: Hide, seen = new Set<unknown>()): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value !== "object" || value === null || seen.has(value) || !isOwnTo(value)) return value;
  seen.add(value);
  // By name: an error's message and stack are not enumerable.
  for (const key of Object.getOwnPropertyNames(value)) {
    const before: unknown = Reflect.get(value, key);
    const after = withoutSecrets(before, hide, seen);
    // What cannot be set cannot be changed either; not worth an error in the place of the error.
    if (after !== before) Reflect.set(value, key, after);
  }
  return value;
}

/** Whether this belongs to an error. Through anything else it may lead to a client, which needs its key. */
function isOwnTo(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  return value instanceof Error || types.isNativeError(value) || Array.isArray(value) || isPlain;
}
