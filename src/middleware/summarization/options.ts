import { z } from "zod";
import type { Prices } from "../prices/index.ts";

/** A size of a conversation: a `fraction` of the model's window, tokens of the whole request, or messages. */
export interface ContextSize {
  fraction?: number;
  tokens?: number;
  messages?: number;
}

/** Options of `summarizationMiddleware`. */
export interface SummarizationOptions {
  /** The model that writes summaries. Default: the agent's own, asked as the next turn of its conversation. */
  model?: object;
  /** The prices of that model, for a budget in money. Default: those of the budget. */
  prices?: Prices;
  /**
   * When to summarize: all parts of one size must be reached, or of one of several. Default: 85% of the model's window
   * where its profile is known, else 120,000 tokens.
   */
  trigger?: ContextSize | ContextSize[];
  /** The size of the end that stays as it is. Default: 10% of the window if it is known, else 20 messages. */
  keep?: ContextSize;
  /** Replaces the request for a summary; `{messages}` is where the conversation goes. */
  summaryPrompt?: string;
  /** The most tokens of the user's own words that stand in each request after a summary. Default 20,000. */
  userWords?: number;
}

const size = z.object({ fraction: z.number(), tokens: z.number(), messages: z.number() }).partial();

/** Sizes that the context of a run may give in the place of the options. */
export const SIZES_IN_CONTEXT = z.object({ trigger: z.union([z.array(size), size]), keep: size }).partial();
