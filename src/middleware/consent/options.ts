import type { ToolCall } from "@langchain/core/messages";
import type { InterruptOnConfig, ToolCallRequest } from "langchain";
import { z } from "zod";
import { FUNCTION } from "../options/index.ts";
import { type RepeatOptions, REPEATS } from "../repeats/index.ts";

/** When a tool waits for consent: LangChain's rule, with calls that are refused without asking. */
export interface ConsentRule extends InterruptOnConfig {
  /** Returns why a call is refused, for the model; undefined to ask about it or make it. */
  refuse?: (
    request: Pick<ToolCallRequest, "toolCall" | "state" | "runtime">,
  ) => string | undefined | Promise<string | undefined>;
  /** Further facts about a call for the user who is asked. */
  notice?: (call: ToolCall) => string | undefined;
}

/** Options of `consentMiddleware`. */
export interface ConsentOptions {
  /**
   * The tools that wait for consent, as in LangChain's `humanInTheLoopMiddleware`. A name that ends in `*` is a prefix
   * for tools without a rule of their own.
   */
  interruptOn: Record<string, boolean | ConsentRule>;
  /**
   * The policy of all tools for calls that were running when a run was stopped. Default: those that need consent are
   * asked about again, others are run. `false`: all calls are treated as new.
   */
  repeats?: false | RepeatOptions;
}

const RULE = z.strictObject({
  allowedDecisions: z.array(z.enum(["approve", "edit", "reject"])).min(1, "must name at least one decision"),
  description: z.union([z.string(), FUNCTION], "must be a text or a function that makes one").optional(),
  argsSchema: z.record(z.string(), z.unknown()).optional(),
  when: FUNCTION.optional(),
  refuse: FUNCTION.optional(),
  notice: FUNCTION.optional(),
});

/** The schema of `interruptOn`. LangChain ignores a rule that it cannot parse, and asks no one. */
export const INTERRUPT_ON = z.record(z.string(), z.union([z.boolean(), RULE]));

export const CONSENT_OPTIONS = z.strictObject({ interruptOn: INTERRUPT_ON, repeats: REPEATS.optional() });
