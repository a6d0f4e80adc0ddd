import type { Usage } from "../../src/threads/events/events.ts";
import { costOf, type Prices } from "../../src/threads/view/prices.ts";
import type { RunKey, RunRecord } from "./results.ts";
import { LIVE_SYSTEMS } from "./systems.ts";

/** Assumed of a run before there is any: its turns, and the tokens of a request without a plan and of an answer. */
const ASSUMED = { turns: 12, request: 4500, answer: 250 };

/** What runs will spend: as those of the same system did so far, and by assumption where there are none. */
export function estimate(keys: readonly RunKey[], counted: readonly RunRecord[]): Usage {
  const total = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, writtenTokens: 0 };
  for (const { name, fixedTokens } of LIVE_SYSTEMS) {
    const count = keys.filter(({ system }) => system === name).length;
    const known = counted.filter(({ system }) => system === name);
    const mean = (of: (record: RunRecord) => number): number =>
      known.reduce((sum, record) => sum + of(record), 0) / known.length;
    const { turns, request, answer } = ASSUMED;
    const isKnown = known.length > 0;
    total.inputTokens +=
      count * (isKnown ? mean((record) => record.inputTokens) : turns * (request + fixedTokens));
    total.outputTokens += count * (isKnown ? mean((record) => record.outputTokens) : turns * answer);
    total.cachedTokens += count * (isKnown ? mean((record) => record.cachedTokens) : 0);
    total.writtenTokens += count * (isKnown ? mean((record) => record.writtenTokens ?? 0) : 0);
  }
  return total;
}

/** `about $12.30`, or the tokens where no prices are known. */
export function priceText(usage: Usage, prices: Prices | undefined): string {
  if (prices) return dollars(costOf(usage, prices));
  return `${thousands(usage.inputTokens)} tokens in and ${thousands(usage.outputTokens)} out`;
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}

/** `31k`. */
export function thousands(tokens: number): string {
  return tokens < 1000 ? String(Math.round(tokens)) : `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k`;
}
