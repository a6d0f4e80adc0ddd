import type { BaseMessage } from "@langchain/core/messages";
import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";
import { messagesField, unparsedState } from "../../langgraph/index.ts";
import { CONFIG } from "../../marks.ts";
import type { UsedTokens } from "../prices/index.ts";
import { anyUpdate, harnessField } from "../state/index.ts";

/** A summary of the beginning of a thread. The messages themselves stay in the thread. */
export interface Summary {
  /** The id of the last message it covers. */
  upTo: string;
  text: string;
  /** Its number among the thread's summaries, from 1. */
  number: number;
  /** The number of the thread's messages it covers. */
  covers: number;
  /** The messages it removed from requests, and approximately their tokens. */
  messages: number;
  tokens: number;
  /** The most tokens of the user's words next to it. */
  words: number;
  /** The token usage of writing it; undefined in threads of earlier versions. */
  used?: UsedTokens;
  /** Epoch milliseconds. */
  at: number;
}

/** How requests differ from the thread's messages. */
export interface ContextMemory {
  summary?: Summary;
  /** The id of the last message up to which requests leave out tool results that can be fetched again. */
  cleared?: string;
  /** The id of the last message when either was written: token counts of earlier answers are larger than requests now. */
  since?: string;
}

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

/** The memory in a graph state, merged over its caller's in a fork's configurable. */
export function readContext(state: unknown, configurable?: Record<string, unknown>): ContextMemory {
  const { _context } = (state ?? {}) as { _context?: ContextMemory };
  return { ...(configurable?.[CONFIG.context] as ContextMemory | undefined), ..._context };
}

/** The number of a list's messages that a summary covers; 0 if its last message is missing. */
export function coveredBy(summary: Summary | undefined, messages: readonly BaseMessage[]): number {
  if (!summary) return 0;
  // Messages are only appended, so the index is the same unless messages were removed.
  const { covers, upTo } = summary;
  if (messages[covers - 1]?.id === upTo) return covers;
  return messages.findLastIndex(({ id }) => id === upTo) + 1;
}
