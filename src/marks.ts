import type { BaseMessage } from "@langchain/core/messages";

/**
 * Everything that Holdfast notes on messages, run configs, and metadata. Nothing else defines, writes, or reads these
 * keys. Stored threads contain them: a key that is renamed is lost in older threads.
 */
interface MessageMarks {
  /** LangChain's own keys: user interfaces hide the message; it is a summary. */
  hide_from_ui: true;
  lc_source: "summarization";
  /** Words of the user in a message of Holdfast or the model: the reason for a refusal, an edit of the plan. */
  user_said: string;
  /** The user's decision about the call that this message answers. */
  user_decided: RecordedDecision;
  /** The message is the user's answer to a question of the agent. */
  user_answered: true;
  /** The length and the checksum of the end of a tool result that Holdfast wrote. */
  harness_end: readonly [length: number, checksum: number];
  /** The kind of a reminder, whatever its message's name is. */
  holdfast_reminder: string;
  /** An answer that was returned to the model: when, and its structured response. */
  called_back: { at?: number; structuredResponse?: unknown };
  /** The usage of discarded answers before this one, which are not in the conversation. */
  holdfast_unsaid: unknown;
  /** Ids of plan calls whose JSON was repaired. */
  repaired_calls: readonly (string | undefined)[];
  /** Notes on repaired arguments, by call id. */
  repaired_arguments: Readonly<Record<string, string>>;
  /** The result tells the model of the user's edits. */
  plan_edited: true;
  /** The start of a call and its milliseconds, without the time it waited for a user. */
  holdfast_time: readonly [from: number, ms: number];
  /** Verdicts of sub-agents other than "done", by call id. */
  holdfast_failed: unknown;
  /** The sub-agent that can be asked again with the id in this result. */
  holdfast_helper: unknown;
}

/** The user's decision about a call, as its result records it. */
export interface RecordedDecision {
  type: string;
  /** The user's name, if known. */
  by?: string;
  message?: string;
}

/** Marks in `response_metadata`. */
interface MetadataMarks {
  /** The message was sent to a working agent, and started no turn of its own. */
  steered: true;
  /** The answer is not final: sub-agents are still at work, and the model is called again with their reports. */
  holdfast_work_goes_on: true;
  /** The limit that ended the run. */
  holdfast_used_up: string;
  /** Reports in arguments of work calls, which were taken out of the calls. */
  todo_done: readonly unknown[];
}

/** The parts of a message that can have marks. LangChain's own type of them varies with the message. */
interface Marked {
  additional_kwargs?: object;
  response_metadata?: object;
}

type Extra = Record<string, unknown>;

export function markOf<Name extends keyof MessageMarks>(
  message: Marked | undefined,
  name: Name,
): MessageMarks[Name] | undefined {
  return (message?.additional_kwargs as MessageMarks | undefined)?.[name];
}

/** Fields with marks, for a new message: `new ToolMessage({ additional_kwargs: marks({ … }) })`. */
export function marks(values: Partial<MessageMarks>): Extra {
  return values;
}

/** Adds marks to a message. Replaces its `additional_kwargs`, which a copy of the message may share. */
export function mark(message: BaseMessage, values: Partial<MessageMarks>): void {
  message.additional_kwargs = { ...message.additional_kwargs, ...values };
}

export function metadataMark<Name extends keyof MetadataMarks>(
  message: Marked | undefined,
  name: Name,
): MetadataMarks[Name] | undefined {
  return (message?.response_metadata as MetadataMarks | undefined)?.[name];
}

export function markMetadata(message: BaseMessage, values: Partial<MetadataMarks>): void {
  message.response_metadata = { ...message.response_metadata, ...values };
}

/** A field that a provider set in a message's metadata. */
export function metadataOf(message: Marked | undefined): Extra {
  return (message?.response_metadata ?? {}) as Extra;
}

/** Keys in the `configurable` of a run. All are about this run alone, and none is stored. */
export const CONFIG = {
  /** The owner of a sub-agent's plan: `main/researcher:call_7`. Also in the metadata that callbacks see. */
  owner: "holdfast_owner",
  /** An object in which a sub-agent's run reports its spending to its caller. */
  spent: "holdfast_spent",
  /** The budget account that a sub-agent's run shares with its caller. */
  budget: "holdfast_budget",
  /** Messages of the user to a working sub-agent. */
  notes: "holdfast_notes",
  /** The summary and cleared results of a caller, for a fork whose conversation begins with the caller's. */
  context: "holdfast_context",
  /** Ids of calls that may run for the second time. */
  repetitions: "holdfast_repetitions",
  /** The token of the lease under which a run writes. */
  lease: "__holdfast_lease",
} as const;

/** Keys in the metadata that callbacks see, beside `CONFIG.owner`. */
export const METADATA = {
  /** The items that a call is for. */
  todo: "holdfast_todo",
} as const;
