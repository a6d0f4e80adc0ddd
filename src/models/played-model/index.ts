import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { ToolDefinition } from "@langchain/core/language_models/base";
import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk, type AIMessage, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

/** The base of chat models whose answers come from code, with text streamed word by word. */
export abstract class PlayedModel extends BaseChatModel {
  /** The whole answer, with an id. `tools` are the bound ones. */
  protected abstract answer(
    messages: BaseMessage[],
    tools: ToolDefinition[],
    signal: AbortSignal | undefined,
  ): Promise<AIMessage>;

  /** Waits before each word of a stream. Default: not at all. */
  protected async pause(_signal: AbortSignal | undefined): Promise<void> {}

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: object,
  ): ReturnType<NonNullable<BaseChatModel["bindTools"]>> {
    return this.withConfig({ ...kwargs, tools } as object);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = await this.answer(messages, toolsOf(options), options.signal);
    return { generations: [{ message, text: message.text }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const answer = await this.answer(messages, toolsOf(options), options.signal);
    const { content, text, tool_calls = [], invalid_tool_calls = [], usage_metadata, ...rest } = answer;
    const id = rest.id!;
    if (typeof content === "string" && tool_calls.length === 0 && text !== "") {
      for (const piece of text.match(/\S+\s*/g) ?? []) {
        await this.pause(options.signal);
        const chunk = new ChatGenerationChunk({
          text: piece,
          message: new AIMessageChunk({ id, content: piece }),
        });
        yield chunk;
        // The chunk tells listeners to which message the words belong.
        await run?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
      }
    }
    const calls = [
      ...tool_calls.map(({ id: call, name, args }) => ({ id: call!, name, args: JSON.stringify(args) })),
      // A stream does not show which arguments are invalid JSON.
      ...invalid_tool_calls.map(({ id: call = "", name = "", args = "" }) => ({ id: call, name, args })),
    ];
    const tool_call_chunks = calls.map((call, index) => ({
      ...call,
      index,
      type: "tool_call_chunk" as const,
    }));
    const last = new AIMessageChunk({
      id,
      content: typeof content === "string" && tool_calls.length === 0 ? "" : content,
      tool_call_chunks,
      additional_kwargs: rest.additional_kwargs,
      response_metadata: rest.response_metadata,
      ...(usage_metadata ? { usage_metadata } : {}),
    });
    const chunk = new ChatGenerationChunk({ text: "", message: last });
    yield chunk;
    // Content blocks may be thoughts, which some listeners need.
    if (typeof content !== "string")
      await run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
  }
}

function toolsOf(options: object): ToolDefinition[] {
  const { tools = [] } = options as { tools?: BindToolsInput[] };
  return tools.map((tool) => convertToOpenAITool(tool as never));
}
