import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { ToolDefinition } from "@langchain/core/language_models/base";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { PlayedModel } from "../played-model.ts";
import { answerTo, isDeclined, type PlayedName } from "./answer.ts";
import type { Answer, Call } from "./conversation.ts";

/** Options of `OfflineModel`. */
export interface OfflineModelOptions {
  /** Slows it down so that people can follow: milliseconds before each answer, and before each word of a stream. */
  pace?: { thinkMs?: number; wordMs?: number };
  /** The program: `offline` surveys a directory, `demo` plays a task in a scratch project. Default `offline`. */
  name?: PlayedName;
}

/**
 * Plays the model's part in one real job without being one. `offline` surveys a directory through an agent's file
 * tools, with a plan and sub-agents, and writes a report to `survey.md`; `demo` plays the coding task of
 * `holdfast demo`. Anything else it declines. An answer depends on the request alone, so a run can go on in another
 * process, and two runs are the same.
 */
export class OfflineModel extends PlayedModel {
  readonly model: PlayedName;
  readonly #pace: { thinkMs: number; wordMs: number };

  constructor({ pace = {}, name = "offline" }: OfflineModelOptions = {}) {
    super({});
    this.model = name;
    this.#pace = { thinkMs: 0, wordMs: 0, ...pace };
  }

  static override lc_name(): string {
    return "OfflineModel";
  }

  override _llmType(): string {
    return this.model;
  }

  /** A very large window: only very long conversations are summarized. */
  override get profile(): ModelProfile {
    return { maxInputTokens: 1_000_000, toolCalling: true };
  }

  protected override pause(signal: AbortSignal | undefined): Promise<void> {
    return wait(this.#pace.wordMs, signal);
  }

  protected override async answer(
    messages: BaseMessage[],
    tools: ToolDefinition[],
    signal: AbortSignal | undefined,
  ): Promise<AIMessage> {
    signal?.throwIfAborted();
    await wait(this.#pace.thinkMs, signal);
    const names = tools.map((tool) => tool.function.name);
    const said = answerTo(messages, names, this.model);
    const id = `${this.model}-${hashOf(messages)}`;
    const { text: content, calls } = partsOf(said);
    const tool_calls = calls.map((call, index) => ({
      ...call,
      type: "tool_call" as const,
      id: `${id}-${index + 1}`,
    }));
    const answer = { id, content, tool_calls };
    const [input_tokens, output_tokens] = [
      countTokens(messages, tools),
      countTokens([new AIMessage(answer)]),
    ];
    const usage_metadata = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    const response_metadata = {
      model_name: this.model,
      ...(isDeclined(said) && { finish_reason: "refusal" }),
    };
    return Object.assign(new AIMessage({ ...answer, response_metadata }), { usage_metadata });
  }
}

function partsOf(said: Answer): { text: string; calls: Call[] } {
  if (typeof said === "string") return { text: said, calls: [] };
  return Array.isArray(said) ? { text: "", calls: said } : said;
}

/** The id of an answer follows from the request: sub-agents answer side by side, and their ids must differ. */
function hashOf(messages: readonly BaseMessage[]): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    hash.update(
      JSON.stringify([message.getType(), message.text, calls.map(({ name, args }) => [name, args])]),
    );
  }
  return hash.digest("hex").slice(0, 12);
}

/** Counts tokens as LangChain's own estimate does: four characters each. */
function countTokens(messages: readonly BaseMessage[], tools: readonly object[] = []): number {
  const texts = messages.flatMap((message) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    return [message.text, ...calls.map(({ name, args }) => name + JSON.stringify(args))];
  });
  const characters = [...texts, ...tools.map((tool) => JSON.stringify(tool))];
  return Math.ceil(characters.reduce((sum, text) => sum + text.length, 0) / 4);
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms > 0) await setTimeout(ms, undefined, signal && { signal });
}
