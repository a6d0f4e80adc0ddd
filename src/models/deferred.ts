import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import { chooseModel, type ChooseModelOptions } from "./choose.ts";

/**
 * A chat model that is chosen when it is first used, so that an agent can be built without waiting for a
 * provider's package to load. LangChain asks it for the real one as it asks the models of `initChatModel`.
 */
export class DeferredModel extends BaseChatModel {
  /** What LangChain recognizes such a model by. */
  readonly _queuedMethodOperations = {};
  readonly #options: ChooseModelOptions;
  readonly #refine: (model: BaseChatModel) => BaseChatModel;
  #model: Promise<BaseChatModel> | undefined;

  /** `refine` makes the last changes to the model once it is chosen. */
  constructor(options: ChooseModelOptions = {}, refine = (model: BaseChatModel): BaseChatModel => model) {
    super({});
    this.#options = options;
    this.#refine = refine;
  }

  override _llmType(): string {
    return "deferred";
  }

  async _getModelInstance(): Promise<BaseChatModel> {
    this.#model ??= chooseModel(this.#options).then(({ model }) => this.#refine(model));
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
