import type { InterruptOnConfig } from "langchain";

/** Options of `consentMiddleware`. */
export interface ConsentOptions {
  /** The tools that wait for consent, as in LangChain's `humanInTheLoopMiddleware`. */
  interruptOn: Record<string, boolean | InterruptOnConfig>;
}
