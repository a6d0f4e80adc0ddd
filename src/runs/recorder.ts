import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { Serialized } from "@langchain/core/load/serializable";
import { AIMessage, ToolMessage, type UsageMetadata } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { Command, isGraphBubbleUp } from "@langchain/langgraph";
import { OWNER_KEY } from "../middleware/plan/events.ts";
import { shortened } from "../middleware/title/shortened.ts";
import { thoughtFilter, withoutThoughts } from "../models/thoughts.ts";
import type { RunEventBody, Usage } from "./events.ts";
import { MAIN } from "./view.ts";

/** A model's or a tool's run, from its start to its end. */
interface Started {
  owner: string;
  /** A call that is the harness's own, such as a summary. */
  isHidden: boolean;
  /** Takes the thinking out of a model's text as it comes. */
  shown: (piece: string) => string;
  tool?: { name: string; call: string; about: string };
}

type Metadata = Record<string, unknown> | undefined;

/** Turns LangChain's callbacks of a run, also those of sub-agents, into events. `signal` is what aborts the run. */
export class Recorder extends BaseCallbackHandler {
  name = "holdfast-recorder";
  /** Asks models to stream, as LangGraph's own handlers do. */
  readonly lc_prefer_streaming = true;
  override awaitHandlers = true;
  readonly #emit: (event: RunEventBody) => void;
  readonly #signal: AbortSignal;
  readonly #runs = new Map<string, Started>();

  constructor(emit: (event: RunEventBody) => void, signal: AbortSignal) {
    super();
    this.#emit = emit;
    this.#signal = signal;
  }

  override handleChatModelStart(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleChatModelStart"]>>
  ): void {
    const [, , runId, , , tags, metadata] = args;
    this.#runs.set(runId, started(tags, metadata));
  }

  override handleLLMNewToken(text: string, _at: unknown, runId: string): void {
    const run = this.#runs.get(runId);
    const shown = run && !run.isHidden ? run.shown(text) : "";
    if (run && shown) this.#emit({ type: "text", owner: run.owner, text: shown });
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const run = this.#take(runId);
    const generation = generations[0]?.[0] as { message?: unknown } | undefined;
    const message = generation?.message;
    if (!run || !AIMessage.isInstance(message)) return;
    const text = run.isHidden ? "" : withoutThoughts(message.text);
    this.#emit({ type: "model-end", owner: run.owner, text, usage: usageOf(message) });
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#take(runId);
  }

  override handleToolStart(...args: Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>): void {
    const [tool, input, runId, , tags, metadata, runName, callId] = args;
    const run = started(tags, metadata);
    const name = runName ?? nameOf(tool);
    const details = { name, call: callId ?? runId, about: aboutCall(input) };
    this.#runs.set(runId, { ...run, tool: details });
    this.#emit({ type: "tool-start", owner: run.owner, ...details });
  }

  override handleToolEnd(output: unknown, runId: string): void {
    const message = messageOf(output);
    const failed = message?.status === "error";
    this.#endTool(runId, { ok: !failed, result: message ? message.text : String(output) });
  }

  override handleToolError(error: unknown, runId: string): void {
    // An interrupt or Ctrl-C stops a tool half way: it has not failed, and it has not ended.
    if (isGraphBubbleUp(error) || this.#signal.aborted) this.#take(runId);
    else this.#endTool(runId, { ok: false, result: error instanceof Error ? error.message : String(error) });
  }

  #endTool(runId: string, { ok, result }: { ok: boolean; result: string }): void {
    const run = this.#take(runId);
    if (!run?.tool) return;
    this.#emit({ type: "tool-end", owner: run.owner, ...run.tool, ok, result: firstLine(result) });
  }

  #take(runId: string): Started | undefined {
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    return run;
  }
}

function started(tags: string[] | undefined, metadata: Metadata): Started {
  const owner = metadata?.[OWNER_KEY];
  const isHidden =
    (tags ?? []).some((tag) => tag.endsWith("nostream")) || metadata?.["lc_source"] === "summarization";
  return { owner: typeof owner === "string" ? owner : MAIN, isHidden, shown: thoughtFilter() };
}

function usageOf(message: AIMessage): Usage {
  const usage = message.usage_metadata as UsageMetadata | undefined;
  return {
    inputTokens: usage?.input_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
    cachedTokens: usage?.input_token_details?.cache_read ?? 0,
  };
}

function nameOf(tool: Serialized): string {
  return tool.id.at(-1) ?? "tool";
}

function messageOf(output: unknown): ToolMessage | undefined {
  if (ToolMessage.isInstance(output)) return output;
  if (!(output instanceof Command)) return undefined;
  const { messages } = (output.update ?? {}) as { messages?: unknown[] };
  return messages?.find((message) => ToolMessage.isInstance(message));
}

const TELLING = [
  "file_path",
  "path",
  "pattern",
  "command",
  "description",
  "question",
  "query",
  "url",
  "name",
];
const MOST = 120;

/** The telling part of a tool call's arguments: what people want to know of it in a list. */
function aboutCall(input: string): string {
  let args: unknown;
  try {
    args = JSON.parse(input);
  } catch {
    return cut(input);
  }
  if (typeof args !== "object" || args === null) return cut(input);
  const values = args as Record<string, unknown>;
  const found = TELLING.map((key) => values[key]).filter(
    (value) => typeof value === "string" && value !== "",
  );
  return cut(found.length > 0 ? found.slice(0, 2).join(" ") : input);
}

function firstLine(text: string): string {
  return cut(text.trim().split("\n", 1)[0] ?? "");
}

function cut(text: string): string {
  return shortened(text, MOST);
}
