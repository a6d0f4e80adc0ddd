import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

/** Fields of a streamed piece that say why an answer ended. */
const REASONS = ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason"];

const kept = new WeakSet<object>();

/**
 * Makes a model keep the reason for the end of an answer in its message. LangChain drops it when it streams `invoke` to
 * a callback, so an answer that was cut off at the output limit would look whole. `model` may be a model with tools.
 */
export function keepFinishReasons(model: object): void {
  let client = model;
  while ("bound" in client && typeof client.bound === "object" && client.bound) client = client.bound;
  if (kept.has(client) || !("_streamResponseChunks" in client)) return;
  kept.add(client);
  // oxlint-disable-next-line typescript/unbound-method -- called on `this`
  const { _streamResponseChunks: stream } = client as BaseChatModel;
  const own: Pick<BaseChatModel, "_streamResponseChunks"> & ThisType<BaseChatModel> = {
    async *_streamResponseChunks(...args) {
      for await (const chunk of stream.apply(this, args)) {
        const { message, generationInfo } = chunk;
        for (const key of REASONS) {
          const reason: unknown = generationInfo?.[key];
          if (typeof reason === "string") message.response_metadata[key] ??= reason;
        }
        yield chunk;
      }
    },
  };
  Object.assign(client, own);
}
