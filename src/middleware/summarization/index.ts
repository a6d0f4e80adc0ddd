import { AIMessage, SystemMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { failureOf } from "../../models/index.ts";
import { settled } from "../../models/secrets/index.ts";
import type { Budget } from "../budget/index.ts";
import { contextStateSchema } from "../context-memory/index.ts";
import { ownerOf, watchedModel } from "../plan/index.ts";
import { SIZES_IN_CONTEXT, type SummarizationOptions } from "./options.ts";
import { createCounter, sizesFor, windowOf } from "./request/sizes.ts";
import { RunMemories, type RunMemory } from "./run-memory.ts";
import { ContextTurn, type Fitting } from "./turn.ts";

/**
 * Keeps requests within the model's context window. The messages of a thread stay as they are. If a request would be too
 * long, old results that can be fetched again are left out first, then the beginning is replaced by the user's own words
 * and a summary. A request that the provider refuses as too long is also summarized, and sent once more. Adds no graph
 * step. Put it first, so that other middleware sees the messages that are sent.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { planMiddleware, summarizationMiddleware } from "holdfast";
 *
 * const short = summarizationMiddleware({ trigger: { tokens: 100_000 }, keep: { messages: 20 } });
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [short, planMiddleware()] });
 * ```
 */
export function summarizationMiddleware(
  options: SummarizationOptions = {},
  { budget }: { budget?: Budget } = {},
) {
  const count = createCounter();
  const runs = new RunMemories();
  return createMiddleware({
    name: "SummarizationMiddleware",
    stateSchema: contextStateSchema(),
    contextSchema: SIZES_IN_CONTEXT,
    wrapModelCall: async (request, handler) => {
      const { runtime } = request;
      const run = runs.of(runtime, ownerOf(runtime, "main"));
      const own = await settled(request.model);
      const turn = new ContextTurn(request as never, {
        options,
        sizes: sizesFor({ ...options, ...sizesIn(runtime.context) }, windowOf(own)),
        count,
        run,
        own,
        account: budget?.accountOf(runtime),
        writer: options.model === undefined ? own : await settled(options.model),
      });
      const model = watched(request.model, own, run);
      const send = async ({ composition: { messages }, update }: Fitting) => {
        const answer = await handler({ ...request, model, messages });
        // A structured response ends the run, and LangChain does not accept it in a command.
        return update && AIMessage.isInstance(answer)
          ? new Command({ update: { _context: update } })
          : answer;
      };
      const usual = await turn.fit();
      try {
        return await send(usual);
      } catch (error) {
        if (!isTooLong(error)) throw error;
        const shorter = await turn.shorten(usual);
        if (!shorter) throw error;
        try {
          return await send(shorter);
        } catch (laterError) {
          throw isTooLong(laterError) ? error : laterError;
        }
      }
    },
  });
}

/** The model, with each outgoing request noted in the run's memory. */
function watched<Model extends object>(model: Model, own: object, run: RunMemory): Model {
  let tools: readonly unknown[] = [];
  return watchedModel(model, {
    onTools: (bound) => [...(tools = bound)],
    onRequest: (messages, send) => {
      const [first] = messages;
      const system = SystemMessage.isInstance(first) ? first : undefined;
      run.noteOutgoing({ system, tools, model: own, send });
      return messages;
    },
  });
}

function sizesIn(context: unknown): Pick<SummarizationOptions, "trigger" | "keep"> {
  const { trigger, keep } = (context ?? {}) as Pick<SummarizationOptions, "trigger" | "keep">;
  return { ...(trigger && { trigger }), ...(keep && { keep }) };
}

function isTooLong(error: unknown): boolean {
  return failureOf(error).kind === "too-long";
}

export { isSummaryEvent, type SummaryEvent } from "./events.ts";
export type { ContextSize, SummarizationOptions } from "./options.ts";
export { compose } from "./request/compose.ts";
