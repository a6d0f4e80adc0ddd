import { AIMessage } from "@langchain/core/messages";
import { createMiddleware, type AgentMiddleware } from "langchain";
import { NO_TOKENS, sumTokens, usedTokens } from "../../src/middleware/prices/index.ts";
import type { Usage } from "../../src/threads/events/events.ts";

/** After so many model calls a run is over. */
export const MAX_MODEL_CALLS = 80;

/** Counts what a run spends, and stops it at a limit. */
export class Meter {
  usage: Usage = NO_TOKENS;
  modelCalls = 0;
  /** The model call was not made: the run has had all it may have. */
  isUsedUp = false;
  /** What the model's client threw, and which call it was. */
  failure: { error: unknown; call: number } | undefined;
  readonly #onUsage: (usage: Usage | undefined) => void;

  /** `onUsage` is told what each call spent, as soon as it is known; undefined where the server does not say. */
  constructor(onUsage: (usage: Usage | undefined) => void) {
    this.#onUsage = onUsage;
  }

  middleware(): AgentMiddleware {
    return createMiddleware({
      name: "LiveMeter",
      wrapModelCall: async (request, handler) => {
        if (this.modelCalls >= MAX_MODEL_CALLS) {
          this.isUsedUp = true;
          throw new Error(`The run had ${MAX_MODEL_CALLS} model calls.`);
        }
        this.modelCalls += 1;
        try {
          const answer = await handler(request);
          this.#add(answer);
          return answer;
        } catch (error) {
          this.failure ??= { error, call: this.modelCalls };
          throw error;
        }
      },
    });
  }

  #add(answer: unknown): void {
    const usage = AIMessage.isInstance(answer) ? usedTokens(answer) : NO_TOKENS;
    this.usage = sumTokens(this.usage, usage);
    // Clients make zeros of what a server does not say.
    this.#onUsage(usage.inputTokens > 0 ? usage : undefined);
  }
}
