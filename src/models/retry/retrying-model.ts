import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { failureOf } from "../failure/failure.ts";
import { patchModel } from "../patched-model.ts";
import { Retries, retries } from "./retries.ts";

/**
 * Makes a model retry an answer that broke off, in place. Only for `invoke`, which agents call whether they stream or
 * not: to callbacks, each attempt is a separate call. A reader of `stream` already has half of the answer and gets the
 * error.
 */
export function retryingModel<Model extends BaseChatModel>(model: Model, maxRetries: number): Model {
  return patchModel(model, (client) => {
    // oxlint-disable-next-line typescript/unbound-method -- called on `this`: the model may be copied, and the copy changed
    const { invoke } = client;
    const own: Pick<BaseChatModel, "invoke"> & ThisType<BaseChatModel> = {
      async invoke(input, options) {
        const attempts = new Retries(maxRetries, options);
        for (;;) {
          try {
            return await retries.run(attempts, () => invoke.call(this, input, options));
          } catch (error) {
            const reason = BROKEN_OFF[failureOf(error).kind];
            if (!reason || !attempts.areLeft || options?.signal?.aborted) throw error;
            await attempts.wait(reason, { signal: options?.signal });
          }
        }
      },
    };
    Object.assign(client, own);
  });
}

/** Failures in the middle of an answer. `retryingFetch` handles failures before it. */
const BROKEN_OFF: Partial<Record<string, string>> = {
  cut: "the connection was cut",
  "broke-off": "the server broke off its answer",
};
