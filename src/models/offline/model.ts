import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { ToolDefinition } from "@langchain/core/language_models/base";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { PlayedModel } from "../played-model.ts";
import { answerTo, isDeclined } from "./answer.ts";

/** Options of `OfflineModel`. */
export interface OfflineModelOptions {
  /** Slows it down so that people can follow: milliseconds before each answer, and before each word of a stream. */
  pace?: { thinkMs?: number; wordMs?: number };
}

const NAME = "offline";

/**
 * Plays the model's part in one real job without being one: it surveys a directory through an agent's file tools,
 * with a plan and sub-agents, and writes a report to `survey.md`. Anything else it declines. An answer depends on
 * the request alone, so a run can go on in another process, and two runs are the same.
 */
export class OfflineModel extends PlayedModel {
  readonly model = NAME;
  readonly #pace: { thinkMs: number; wordMs: number };

  constructor({ pace = {} }: OfflineModelOptions = {}) {
    super({});
    this.#pace = { thinkMs: 0, wordMs: 0, ...pace };
  }

  static override lc_name(): string {
    return "OfflineModel";
  }

  override _llmType(): string {
    return NAME;
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
    const said = answerTo(messages, names);
    const id = idOf(messages);
    const [content, calls] = typeof said === "string" ? [said, []] : ["", said];
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
    const response_metadata = { model_name: NAME, ...(isDeclined(said) && { finish_reason: "refusal" }) };
    return Object.assign(new AIMessage({ ...answer, response_metadata }), { usage_metadata });
  }
}

/** An id that follows from the request: sub-agents answer side by side, and their ids must differ. */
function idOf(messages: readonly BaseMessage[]): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    hash.update(
      JSON.stringify([message.getType(), message.text, calls.map(({ name, args }) => [name, args])]),
    );
  }
  return `${NAME}-${hash.digest("hex").slice(0, 12)}`;
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
