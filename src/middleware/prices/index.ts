import type { BaseMessage, UsageMetadata } from "@langchain/core/messages";
import { mark, markOf } from "../../marks.ts";

/** US dollars per million tokens. */
export interface Prices {
  input: number;
  output: number;
  /** The price of cached input. Default: `input`. */
  cached?: number;
  /** The price of input that is written to the cache. Default: `input`. */
  written?: number;
}

/** Token usage. */
export interface UsedTokens {
  inputTokens: number;
  outputTokens: number;
  /** The part of `inputTokens` that was read from the provider's cache. */
  cachedTokens: number;
  /** The part of `inputTokens` that was written to it. */
  writtenTokens?: number;
}

export const NO_TOKENS: UsedTokens = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

const MILLION = 1_000_000;

/** The fields of a model's answer that report its usage. */
export interface UsageSource {
  usage_metadata?: Partial<UsageMetadata>;
  response_metadata?: Record<string, unknown>;
}

/**
 * The token usage of an answer. Some clients leave it in the provider's own form (`response_metadata`); Gemini's
 * counts thinking only in the total.
 */
export function usedTokens({ usage_metadata: usage, response_metadata = {} }: UsageSource): UsedTokens {
  const hasCounts = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0) > 0;
  if (!usage || !hasCounts) return rawTokens(response_metadata);
  const { cache_read: cached, cache_creation: written } = usage.input_token_details ?? {};
  const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0, total_tokens: total = 0 } = usage;
  return {
    inputTokens,
    outputTokens: Math.max(outputTokens, total - inputTokens),
    cachedTokens: cached ?? 0,
    ...(written && { writtenTokens: written }),
  };
}

/** The usage in the fields of OpenAI's API and of those that resemble it. */
function rawTokens(metadata: Record<string, unknown>): UsedTokens {
  const { usage, tokenUsage, x_groq: groq } = metadata as Record<string, Record<string, unknown> | undefined>;
  const counts = (usage ?? groq?.["usage"] ?? tokenUsage ?? {}) as Record<string, unknown>;
  const first = (...names: string[]): number => Number(names.map((name) => counts[name]).find(Boolean) ?? 0);
  return {
    ...NO_TOKENS,
    inputTokens: first("prompt_tokens", "input_tokens", "promptTokens"),
    outputTokens: first("completion_tokens", "output_tokens", "completionTokens"),
  };
}

/** Adds the usage of a discarded answer, and of those before it, to the answer that replaces it. */
export function markUnsaid(message: BaseMessage, discarded: BaseMessage): void {
  const parts = [unsaidTokens(message), unsaidTokens(discarded), usedTokens(discarded)];
  const unsaid = parts.reduce<UsedTokens>((sum, part) => (part ? sumTokens(sum, part) : sum), NO_TOKENS);
  mark(message, { holdfast_unsaid: unsaid });
}

/** The usage of the discarded answers before an answer, which are not in the conversation. */
export function unsaidTokens(message: BaseMessage): UsedTokens | undefined {
  return markOf(message, "holdfast_unsaid") as UsedTokens | undefined;
}

export function sumTokens(a: UsedTokens, b: UsedTokens): UsedTokens {
  const written = (a.writtenTokens ?? 0) + (b.writtenTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    ...(written > 0 && { writtenTokens: written }),
  };
}

export function costOf(used: UsedTokens, { input, output, cached = input, written = input }: Prices): number {
  const { inputTokens, outputTokens, cachedTokens, writtenTokens = 0 } = used;
  const fresh = Math.max(0, inputTokens - cachedTokens - writtenTokens);
  const dollars = fresh * input + cachedTokens * cached + writtenTokens * written + outputTokens * output;
  return dollars / MILLION;
}
