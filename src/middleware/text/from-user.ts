import { HumanMessage, type BaseMessage } from "@langchain/core/messages";

/** Whether a message is the user's own, and not a reminder or a summary. */
export function isFromUser(message: BaseMessage): boolean {
  // Runs for every message of every model call: `isInstance` is too slow here.
  if (message.type !== "human") return false;
  const { hide_from_ui: isHidden, lc_source: source } = message.additional_kwargs;
  return isHidden !== true && source === undefined;
}

/** A message of the harness with the role of the user; user interfaces hide it. */
export function hiddenMessage({ name, text }: { name: string; text: string }): HumanMessage {
  return new HumanMessage({ content: text, name, additional_kwargs: { hide_from_ui: true } });
}

/** A hidden message that is a `<system_reminder>`. */
export function reminderMessage(name: string, text: string): HumanMessage {
  return hiddenMessage({ name, text: `<system_reminder>${text}</system_reminder>` });
}

const USER_WORDS = "user_said";

/** Fields that mark a message of the harness or the model as containing a person's words. */
export function saidByUser(words: string): Record<string, string> {
  return { [USER_WORDS]: words };
}

/** A person's words in a message that is not theirs: an answer, the reason for a refusal, an edit of the plan. */
export function userWordsIn({ additional_kwargs, text }: BaseMessage): string | undefined {
  const { [USER_WORDS]: words, user_answered: isAnswer } = additional_kwargs;
  if (typeof words === "string") return words;
  return isAnswer === true ? text : undefined;
}

/** A person's decision about a call, as its result records it. */
export interface RecordedDecision {
  type: string;
  /** The person's name, if known. */
  by?: string;
  message?: string;
}

const DECISION = "user_decided";

/** Fields that record a person's decision about a call in its result. */
export function decidedByUser({ type, by, message }: RecordedDecision): Record<string, RecordedDecision> {
  return { [DECISION]: { type, ...(by && { by }), ...(message && { message }) } };
}

/** The person's decision that a result records. */
export function decisionIn({ additional_kwargs }: BaseMessage): RecordedDecision | undefined {
  return additional_kwargs[DECISION] as RecordedDecision | undefined;
}
