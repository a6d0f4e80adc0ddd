import type { UsageMetadata } from "@langchain/core/messages";

/** US dollars per million tokens. */
export interface Prices {
  input: number;
  output: number;
  /** Of input that the provider had in its cache; as other input where it is not said. */
  cached?: number | undefined;
  /** Of input that the provider puts into its cache; as other input where it is not said. */
  written?: number | undefined;
}

/** Tokens that were used. */
export interface UsedTokens {
  inputTokens: number;
  outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache. */
  cachedTokens: number;
  /** The part of `inputTokens` that went into it. */
  writtenTokens?: number | undefined;
}

export const NO_TOKENS: UsedTokens = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

const MILLION = 1_000_000;

/** What an answer says that it used. */
export function usedTokens(usage: Partial<UsageMetadata> | undefined): UsedTokens {
  const { cache_read: cached, cache_creation: written } = usage?.input_token_details ?? {};
  return {
    inputTokens: usage?.input_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
    cachedTokens: cached ?? 0,
    ...(written && { writtenTokens: written }),
  };
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
