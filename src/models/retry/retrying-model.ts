import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { failureOf } from "../failure/failure.ts";
import { patchModel } from "../patched-model.ts";
import { Retries, retries } from "./retries.ts";

/**
 * Makes a model ask again for an answer that broke off. In place, and for `invoke` alone, which agents call whether
 * they stream or not: each attempt is a call of its own to everybody who watches. Who reads from `stream` has had half
 * of the answer already and gets the error.
 */
export function retryingModel<Model extends BaseChatModel>(model: Model, maxRetries: number): Model {
  return patchModel(model, (client) => {
    // oxlint-disable-next-line typescript/unbound-method -- called on `this`: the model may be copied, and the copy changed
    const { invoke } = client;
    const own: Pick<BaseChatModel, "invoke"> & ThisType<BaseChatModel> = {
      async invoke(input, options) {
        const left = new Retries(maxRetries, options);
        for (;;) {
          try {
            return await retries.run(left, () => invoke.call(this, input, options));
          } catch (error) {
            const reason = BROKEN_OFF[failureOf(error).kind];
            if (!reason || !left.areLeft || options?.signal?.aborted) throw error;
            await left.wait(reason, { signal: options?.signal });
          }
        }
      },
    };
    Object.assign(client, own);
  });
}

/** Failures in the middle of an answer. One that came instead of an answer `patientFetch` has dealt with. */
const BROKEN_OFF: Partial<Record<string, string>> = {
  cut: "the connection was cut",
  "broke-off": "the server broke off its answer",
};
