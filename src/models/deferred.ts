import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import { chooseModel } from "./choose.ts";

/** The model of an option: an instance unchanged; for a name or nothing, a model that is chosen when first used. */
export function toModel(model: BaseChatModel | string | undefined): BaseChatModel {
  if (model !== undefined && typeof model !== "string") return model;
  return new DeferredModel(async () => (await chooseModel(model === undefined ? {} : { model })).model);
}

/** Applies a change to a model. A model that is chosen when first used, ours or `initChatModel`'s, is changed then. */
export function changed(
  model: BaseChatModel,
  change: (model: BaseChatModel) => BaseChatModel,
): BaseChatModel {
  const { _getModelInstance: choose } = model as Partial<DeferredModel>;
  return choose ? new DeferredModel(async () => change(await choose.call(model))) : change(model);
}

/**
 * A chat model that is chosen when first used, so that building an agent does not wait for a provider's package.
 * LangChain gets the real model from it as from the models of `initChatModel`.
 */
class DeferredModel extends BaseChatModel {
  /** The property by which LangChain recognizes such a model. */
  readonly _queuedMethodOperations = {};
  readonly #choose: () => Promise<BaseChatModel>;
  #model: Promise<BaseChatModel> | undefined;

  constructor(choose: () => Promise<BaseChatModel>) {
    super({});
    this.#choose = choose;
  }

  override _llmType(): string {
    return "deferred";
  }

  async _getModelInstance(): Promise<BaseChatModel> {
    this.#model ??= this.#choose();
    return this.#model;
  }

  override async _generate(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    return (await this._getModelInstance())._generate(messages, options, run);
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    yield* (await this._getModelInstance())._streamResponseChunks(messages, options, run);
  }
}
