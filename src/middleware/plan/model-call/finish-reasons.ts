import { BaseCallbackHandler, type CallbackHandlerMethods } from "@langchain/core/callbacks/base";
import { ensureConfig, mergeConfigs, type RunnableConfig } from "@langchain/core/runnables";

/** Fields of a generation that say why an answer ended. */
const REASONS = ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason"];

type OnEnd = NonNullable<CallbackHandlerMethods["handleLLMEnd"]>;

/**
 * Copies the reason for the end of an answer into its message. LangChain drops it when it streams `invoke` to a
 * callback, so an answer that was cut off at the output limit would look whole.
 */
class FinishReasons extends BaseCallbackHandler {
  override name = "finish_reasons";
  // Before the model returns the message, which the middleware then reads.
  override awaitHandlers = true;

  override handleLLMEnd({ generations }: Parameters<OnEnd>[0]): void {
    for (const generation of generations.flat()) keepFinishReason(generation);
  }
}

/** Copies the reason for the end of a generation into its message. */
export function keepFinishReason(generation: object): void {
  const { generationInfo, message } = generation as {
    generationInfo?: Record<string, unknown>;
    message?: { response_metadata?: Record<string, unknown> };
  };
  if (!message?.response_metadata) return;
  for (const key of REASONS) {
    const reason = generationInfo?.[key];
    if (typeof reason === "string") message.response_metadata[key] ??= reason;
  }
}

const finishReasons = new FinishReasons();

/** The callbacks of a model call, with one that keeps the reason for the end of the answer in its message. */
export function keepingFinishReasons(config: RunnableConfig = {}): RunnableConfig["callbacks"] {
  const { callbacks } = config;
  // Without its own callbacks, a call has those of the run around it.
  const inherited = callbacks === undefined ? ensureConfig({}) : { callbacks };
  return mergeConfigs<RunnableConfig>(inherited, { callbacks: [finishReasons] }).callbacks;
}
