import type { ToolCall } from "@langchain/core/messages";
import type { InterruptOnConfig, ToolCallRequest } from "langchain";
import type { RepeatOptions } from "../repeats/options.ts";

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
