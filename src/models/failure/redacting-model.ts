import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { patchModel } from "../patched-model.ts";
import { withoutSecrets, type Hide } from "../secrets/redact.ts";

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
