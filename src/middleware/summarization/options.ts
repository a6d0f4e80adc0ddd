import { z } from "zod";
import type { Prices } from "../prices/index.ts";

/** A size of a conversation: a `fraction` of the model's context window, tokens of the whole request, or messages. */
export interface ContextSize {
  fraction?: number;
  tokens?: number;
  messages?: number;
}

/** Options of `summarizationMiddleware`. */
export interface SummarizationOptions {
  /** The model that writes summaries. Default: the agent's own, which is asked in its conversation. */
  model?: object;
  /** The prices of that model, for a budget in money. Default: those of the budget. */
  prices?: Prices;
  /**
   * When to summarize: when all parts of a size are reached, or of one of several sizes. Default: 85% of the model's
   * context window if its profile has it, else 120,000 tokens.
   */
  trigger?: ContextSize | ContextSize[];
  /** The size of the end that is not summarized. Default: 10% of the window if it is known, else 20 messages. */
  keep?: ContextSize;
  /** Replaces the prompt for a summary; `{messages}` stands for the conversation. */
  summaryPrompt?: string;
  /** The most tokens of the user's own words in each request after a summary. Default 20,000. */
  userWords?: number;
}

const size = z.object({ fraction: z.number(), tokens: z.number(), messages: z.number() }).partial();

/** Sizes in the context of a run, which replace those of the options. */
export const SIZES_IN_CONTEXT = z.object({ trigger: z.union([z.array(size), size]), keep: size }).partial();
