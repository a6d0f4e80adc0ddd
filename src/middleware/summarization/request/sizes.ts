import type { BaseMessage, UsageMetadata } from "@langchain/core/messages";
import { countTokensApproximately } from "langchain";
import { HarnessError } from "../../../errors.ts";
import type { ContextSize, SummarizationOptions } from "../options.ts";

/** When a conversation is summarized and how much of it stays, for one model. */
export interface Sizes {
  trigger: readonly ContextSize[];
  keep: ContextSize;
  /** The model's context window in tokens, if known. */
  window: number | undefined;
  /** The tokens of a request besides the messages to cut. Default 0. */
  besides?: number;
}

/** Sizes by options and defaults. Throws `invalid-options` for a fraction of an unknown window. */
export function sizesFor(
  { trigger, keep }: Pick<SummarizationOptions, "trigger" | "keep">,
  window: number | undefined,
): Sizes {
  const isKnown = window !== undefined;
  const sizes = [trigger ?? (isKnown ? { fraction: 0.85 } : { tokens: 120_000 })].flat();
  const rest = keep ?? (isKnown ? { fraction: 0.1 } : { messages: 20 });
  if (!isKnown && [...sizes, rest].some(({ fraction }) => fraction !== undefined)) {
    throw new HarnessError(
      "invalid-options",
      "summarizationMiddleware: a fraction needs a model whose profile says how much it takes (maxInputTokens); give tokens or messages instead.",
    );
  }
  return { trigger: sizes, keep: rest, window };
}

/** The context window in a model's profile. */
export function windowOf(model: object): number | undefined {
  const { profile } = model as { profile?: { maxInputTokens?: unknown } };
  return typeof profile?.maxInputTokens === "number" ? profile.maxInputTokens : undefined;
}

export interface Measured {
  messages: number;
  /** The tokens of the whole request. */
  tokens: number;
}

/** Whether a request has reached one of the sizes. */
export function isDue({ trigger, window = 0 }: Sizes, { messages, tokens }: Measured): boolean {
  return trigger.some((size) => {
    const checks = [
      ...(size.messages === undefined ? [] : [messages >= size.messages]),
      ...(size.tokens === undefined ? [] : [tokens >= size.tokens]),
      ...(size.fraction === undefined ? [] : [tokens >= Math.floor(window * size.fraction)]),
    ];
    return checks.length > 0 && checks.every(Boolean);
  });
}

/** The least tokens at which a request is summarized; undefined if only messages are counted. */
export function tokenLimit({ trigger, window = 0 }: Sizes): number | undefined {
  const limits = trigger.flatMap(({ tokens, fraction }) => [
    ...(tokens === undefined ? [] : [tokens]),
    ...(fraction === undefined ? [] : [Math.floor(window * fraction)]),
  ]);
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

/**
 * The most of the limit without `besides` that the remaining messages may take: with more the next request would be too
 * long again. They may always take `LEAST_KEPT` of the whole limit, so that the last turn fits.
 */
const MOST_KEPT = 0.6;
const LEAST_KEPT = 0.25;

/**
 * The number of messages to summarize, so that the rest is no larger than `keep` and no result is separated from its
 * call.
 */
export function cutOf(
  messages: readonly BaseMessage[],
  sizes: Sizes,
  count: (messages: readonly BaseMessage[]) => number,
): number {
  const { keep, window = 0, besides = 0 } = sizes;
  const limit = tokenLimit(sizes) ?? Infinity;
  const most = Math.max(limit * LEAST_KEPT, (limit - besides) * MOST_KEPT);
  const starts = [...messages.keys()].filter((at) => messages[at]!.type !== "tool");
  const tail = (at: number): number => count(messages.slice(at));
  const target = startByKeep();
  if (tail(target) <= most) return target;
  // The last turn stays whole while the next request has room for it: the model has not seen its results yet.
  const last = starts.at(-1) ?? 0;
  return (
    starts.find((at) => at > target && tail(at) <= most) ??
    (tail(last) <= Math.max(most, limit - besides) ? last : messages.length)
  );

  function startByKeep(): number {
    if (keep.messages !== undefined) {
      const start = messages.length - keep.messages;
      return start <= 0 ? 0 : (starts.findLast((at) => at <= start) ?? 0);
    }
    const tokens = Math.max(1, keep.tokens ?? Math.floor(window * (keep.fraction ?? 0)));
    if (count(messages) <= tokens) return 0;
    return starts.find((at) => tail(at) <= tokens) ?? starts.at(-1) ?? 0;
  }
}

/** Creates a function that counts tokens by LangChain's approximation, and caches the count of each message. */
export function createCounter(): (messages: readonly BaseMessage[]) => number {
  const counts = new WeakMap<BaseMessage, number>();
  const countOf = (message: BaseMessage): number => {
    const count = counts.get(message) ?? countTokensApproximately([message]);
    counts.set(message, count);
    return count;
  };
  return (messages) => messages.reduce((sum, message) => sum + countOf(message), 0);
}

const toolCounts = new WeakMap<object, number>();

/** The approximate tokens of tool definitions in a request. */
export function countTools(tools: readonly unknown[]): number {
  return tools.reduce<number>((sum, tool) => {
    if (typeof tool !== "object" || tool === null) return sum;
    const count = toolCounts.get(tool) ?? countTokensApproximately([], [tool as never]);
    toolCounts.set(tool, count);
    return sum + count;
  }, 0);
}

/**
 * The index of the last answer with a token count of its request, and that count. Answers up to `since` do not count:
 * their requests were composed differently.
 */
export function lastUsage(
  messages: readonly BaseMessage[],
  since: string | undefined,
): { at: number; tokens: number } | undefined {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]!;
    if (since !== undefined && message.id === since) return undefined;
    if (message.type !== "ai") continue;
    const { usage_metadata: usage } = message as { usage_metadata?: UsageMetadata };
    if (!usage?.input_tokens) continue;
    const { cache_read = 0, cache_creation = 0 } = usage.input_token_details ?? {};
    const cached = cache_read + cache_creation;
    // Some clients do not include cached tokens in `input_tokens`.
    return { at, tokens: cached > usage.input_tokens ? usage.input_tokens + cached : usage.input_tokens };
  }
  return undefined;
}
