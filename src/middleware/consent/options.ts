import type { ToolCall } from "@langchain/core/messages";
import type { InterruptOnConfig, ToolCallRequest } from "langchain";
import { z } from "zod";
import { FUNCTION } from "../options/index.ts";
import { type RepeatOptions, REPEATS } from "../repeats/index.ts";

/** When a tool waits for consent: LangChain's rule, and beside it what is refused without asking anybody. */
export interface ConsentRule extends InterruptOnConfig {
  /** Why a call is not made, for the model to read; nothing for one that may be asked about or made. */
  refuse?: (
    request: Pick<ToolCallRequest, "toolCall" | "state" | "runtime">,
  ) => string | undefined | Promise<string | undefined>;
  /** Facts for the person about a call that is asked about. */
  notice?: (call: ToolCall) => string | undefined;
}

/** Options of `consentMiddleware`. */
export interface ConsentOptions {
  /**
   * The tools that wait for consent, as in LangChain's `humanInTheLoopMiddleware`. A name that ends in `*` is for all
   * tools that begin so and have no rule of their own.
   */
  interruptOn: Record<string, boolean | ConsentRule>;
  /**
   * The policy for calls that were under way when a run was stopped, of all tools. Default: those that need consent
   * are asked about again, others are run; `false`: consent is asked for as if nothing had happened.
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

/** LangChain takes a rule that it cannot read for no rule at all, and asks nobody. */
export const INTERRUPT_ON = z.record(z.string(), z.union([z.boolean(), RULE]));

export const CONSENT_OPTIONS = z.strictObject({ interruptOn: INTERRUPT_ON, repeats: REPEATS.optional() });
