import type { BaseMessage } from "@langchain/core/messages";
import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";
import { messagesField, unparsedState } from "../../langgraph/index.ts";
import type { UsedTokens } from "../prices/index.ts";
import { anyUpdate, harnessField } from "../state/index.ts";

/** A summary of the beginning of a thread. The messages themselves stay in the thread. */
export interface Summary {
  /** The id of the last message that it covers. */
  upTo: string;
  text: string;
  /** The number of the thread's summaries, this one included. */
  number: number;
  /** The number of the thread's messages that it covers. */
  covers: number;
  /** The messages, and about how many tokens, that it took out of the requests. */
  messages: number;
  tokens: number;
  /** The most tokens of the user's words that stand beside it. */
  words: number;
  /** The tokens that it took to write it; undefined in threads of earlier versions. */
  used?: UsedTokens;
  /** Epoch milliseconds. */
  at: number;
}

/** The selection of a thread's messages for requests. */
export interface ContextMemory {
  summary?: Summary;
  /** Results of tools up to this message that can be had again are left out of requests. */
  cleared?: string;
  /** The last message when either of them was written: what a model counted before is not the size of requests now. */
  since?: string;
}

/** The configurable that gives a fork its caller's memory: its conversation begins with the caller's. */
export const CONTEXT_KEY = "holdfast_context";

/** The channel of the memory. */
export function contextStateSchema() {
  const memory: z.ZodType<ContextMemory | undefined, ContextMemory | undefined> = z.any().optional();
  return unparsedState(
    new StateSchema({
      messages: messagesField(),
      _context: harnessField(
        new ReducedValue(memory, {
          inputSchema: anyUpdate<ContextMemory>(),
          reducer: (current, update) => (update === undefined ? current : { ...current, ...update }),
        }),
      ),
    }),
  );
}

/** The memory in a graph state, on top of that in the configurable of a fork: its caller's. */
export function readContext(state: unknown, configurable?: Record<string, unknown>): ContextMemory {
  const { _context } = (state ?? {}) as { _context?: ContextMemory };
  return { ...(configurable?.[CONTEXT_KEY] as ContextMemory | undefined), ..._context };
}

/** The number of messages that a summary covers of a list; 0 if its last message is gone. */
export function coveredBy(summary: Summary | undefined, messages: readonly BaseMessage[]): number {
  if (!summary) return 0;
  // Nothing is put in front of a thread: it is where it was, unless messages were removed.
  const { covers, upTo } = summary;
  if (messages[covers - 1]?.id === upTo) return covers;
  return messages.findLastIndex(({ id }) => id === upTo) + 1;
}
