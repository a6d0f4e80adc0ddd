import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, type AIMessageChunk } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

/** Receives a model's answer as events of LangGraph's newer protocol. */
export type BlockSink = (namespace: string[], node: string | undefined, data: object) => void;

type Block =
  | { type: "text"; text: string }
  | { type: "reasoning"; reasoning: string }
  | { type: "tool_call_chunk"; id?: string; name?: string; args: string };

interface BlocksAnswer {
  namespace: string[];
  node: string | undefined;
  blocks: Block[];
  calls: Map<string, Block>;
  isStarted: boolean;
}

interface CallPiece {
  index?: number | string;
  id?: string;
  name?: string;
  args?: string;
}

/**
 * Turns a model's answer into content blocks. LangGraph's own way, `streamEvents` v3, changes what is stored, silences
 * `handleLLMNewToken` and loses tool calls next to text (core 1.2.13).
 */
export class ContentBlocks extends BaseCallbackHandler {
  name = "holdfast-content-blocks";
  readonly lc_prefer_streaming = true;
  override awaitHandlers = true;
  override ignoreChain = true;
  readonly #sink: BlockSink;
  readonly #answers = new Map<string, BlocksAnswer>();

  constructor(sink: BlockSink) {
    super();
    this.#sink = sink;
  }

  override handleChatModelStart(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleChatModelStart"]>>
  ): void {
    const [, , runId, , , tags, metadata] = args;
    const { langgraph_checkpoint_ns: namespace, langgraph_node: node } = metadata ?? {};
    const isHidden = (tags ?? []).some((tag) => tag.endsWith("nostream"));
    if (typeof namespace !== "string" || isHidden) return;
    this.#answers.set(runId, {
      namespace: namespace.split("|"),
      node: typeof node === "string" ? node : undefined,
      blocks: [],
      calls: new Map(),
      isStarted: false,
    });
  }

  override handleLLMNewToken(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleLLMNewToken"]>>
  ): void {
    const [token, , runId, , , fields] = args;
    const answer = this.#answers.get(runId);
    if (!answer) return;
    const chunk = fields?.chunk as { message?: AIMessageChunk } | undefined;
    const message = chunk?.message;
    this.#start(answer, runId, message?.id);
    const content = message ? message.content : token;
    if (typeof content === "string") this.#text(answer, runId, content);
    else {
      for (const part of content) {
        const { type, text, reasoning, thinking } = part as Record<string, string | undefined>;
        if (type === "text") this.#text(answer, runId, text ?? "");
        else if (type === "reasoning" || type === "thinking") {
          this.#text(answer, runId, reasoning ?? thinking ?? "", "reasoning");
        }
      }
    }
    for (const piece of message?.tool_call_chunks ?? []) this.#call(answer, runId, piece);
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const answer = this.#answers.get(runId);
    this.#answers.delete(runId);
    const { message } = (generations[0]?.[0] ?? {}) as { message?: unknown };
    if (!answer || !AIMessage.isInstance(message)) return;
    this.#start(answer, runId, message.id);
    // A model that does not stream, or streams its calls in another way, has the rest here.
    if (message.text && !answer.blocks.some(({ type }) => type === "text")) {
      this.#text(answer, runId, message.text);
    }
    const calls = message.tool_calls ?? [];
    for (const [index, { id, name, args }] of calls.entries()) {
      const isSent = answer.blocks.some((block) => block.type === "tool_call_chunk" && block.id === id);
      if (!isSent) this.#call(answer, runId, { index: `end-${index}`, id, name, args: JSON.stringify(args) });
    }
    for (const [index, block] of answer.blocks.entries()) {
      this.#emit(answer, runId, { event: "content-block-finish", index, content: finished(block, message) });
    }
    const { usage_metadata: usage } = message;
    this.#emit(answer, runId, { event: "message-finish", reason: "stop", ...(usage ? { usage } : {}) });
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#answers.delete(runId);
  }

  #emit({ namespace, node }: BlocksAnswer, runId: string, data: object): void {
    this.#sink(namespace, node, { ...data, run_id: runId });
  }

  #start(answer: BlocksAnswer, runId: string, id: string | undefined): void {
    if (answer.isStarted) return;
    answer.isStarted = true;
    this.#emit(answer, runId, { event: "message-start", role: "ai", id: id ?? `run-${runId}` });
  }

  #text(answer: BlocksAnswer, runId: string, text: string, type: "text" | "reasoning" = "text"): void {
    if (text === "") return;
    let index = answer.blocks.findLastIndex((block) => block.type === type);
    if (index < 0) {
      const content = (type === "text" ? { type, text: "" } : { type, reasoning: "" }) as Block;
      index = answer.blocks.push(content) - 1;
      this.#emit(answer, runId, { event: "content-block-start", index, content: { ...content } });
    }
    const block = answer.blocks[index]!;
    if (block.type === "text") block.text += text;
    else if (block.type === "reasoning") block.reasoning += text;
    const delta = { type: `${type}-delta`, [type]: text };
    this.#emit(answer, runId, { event: "content-block-delta", index, delta });
  }

  #call(answer: BlocksAnswer, runId: string, { index: at, id, name, args = "" }: CallPiece): void {
    const key = String(at ?? id);
    let block = answer.calls.get(key);
    if (!block) {
      block = { type: "tool_call_chunk", id, name, args: "" };
      answer.calls.set(key, block);
      const index = answer.blocks.push(block) - 1;
      this.#emit(answer, runId, { event: "content-block-start", index, content: { ...block } });
    }
    if (block.type !== "tool_call_chunk") return;
    block.id ??= id;
    block.name ??= name;
    block.args += args;
    const delta = { type: "block-delta", fields: { ...block } };
    this.#emit(answer, runId, { event: "content-block-delta", index: answer.blocks.indexOf(block), delta });
  }
}

function finished(block: Block, message: AIMessage): object {
  if (block.type !== "tool_call_chunk") return block;
  const { id, name, args } = block;
  const call = (message.tool_calls ?? []).find((one) => one.id === id);
  if (call) return { type: "tool_call", id, name: call.name, args: call.args };
  return { type: "invalid_tool_call", id, name, args, error: null };
}
