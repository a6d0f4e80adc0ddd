import type { InterruptOnConfig } from "langchain";
import type { RepeatOptions } from "../repeats/options.ts";

/** Options of `consentMiddleware`. */
export interface ConsentOptions {
  /**
   * The tools that wait for consent, as in LangChain's `humanInTheLoopMiddleware`. A name that ends in `*` is for all
   * tools that begin so and have no rule of their own.
   */
  interruptOn: Record<string, boolean | InterruptOnConfig>;
  /**
   * What becomes of calls that were under way when a run was stopped, of all tools. Default: those that wait for
   * consent are asked about again, others are simply run; `false`: consent is asked for as if nothing had happened.
   */
  repeats?: false | RepeatOptions;
}
