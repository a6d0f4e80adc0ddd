import type { BaseMessage } from "@langchain/core/messages";
import type { Todo } from "../../../plan/index.ts";
import type { FinishedCall } from "./finished-calls.ts";

/** The arguments of a verifier. */
export interface VerifyContext {
  /** The plan as it would be with the completion accepted. */
  todos: readonly Todo[];
  /** The conversation in the graph state. */
  messages: readonly BaseMessage[];
  /** The whole graph state, such as `files`. */
  state: Readonly<Record<string, unknown>>;
  /** Whether the item was in progress. If not, the start of its work is unknown. */
  wasStarted: boolean;
  /**
   * The number of calls to other tools than the plan's that finished since the item was started. For an item that was
   * not: since the earliest start among the items that stay in progress.
   */
  toolCalls: number;
  /** The calls that finished since the plan was made, oldest first, including earlier ones of the same message. */
  calls: readonly FinishedCall[];
  /** The calls of the same run before the plan was made. */
  callsBefore: readonly FinishedCall[];
  /** The items that the same change completes, this one included. */
  together: readonly string[];
  /** The number of calls since the plan was made that are no longer in the conversation. */
  gone: number;
  /** The model's note on what was done, if its report has one. */
  note?: string;
  /** Aborted when the run is cancelled or the time is up. */
  signal: AbortSignal;
}

/**
 * Decides whether an item may count as completed. `true` or nothing accepts it; `false` or a reason refuses it,
 * and so does an error. The model gets the reason, and the item stays as it was. `{ unverified: reason }` accepts it
 * only with a note of what was done, and marks the item.
 */
export type Verifier = (todo: Todo, context: VerifyContext) => Verdict | Promise<Verdict>;

/** A verifier's answer: `true` or nothing accepts, `false` or a reason refuses, `unverified` needs a note. */
export type Verdict = boolean | string | { unverified: string } | null | void;
