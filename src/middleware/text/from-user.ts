import { HumanMessage, type BaseMessage } from "@langchain/core/messages";

/** Whether a message is the user's own: no reminder of ours, and no summary. */
export function isFromUser(message: BaseMessage): boolean {
  // Asked of every message of a long run in every model call: `isInstance` would ask much of each.
  if (message.type !== "human") return false;
  const { hide_from_ui: isHidden, lc_source: source } = message.additional_kwargs;
  return isHidden !== true && source === undefined;
}

/** A message of the harness in the user's place, which user interfaces hide. */
export function hiddenMessage({ name, text }: { name: string; text: string }): HumanMessage {
  return new HumanMessage({ content: text, name, additional_kwargs: { hide_from_ui: true } });
}

const SAID = "user_said";

/** The fields that mark a message of the harness or the model as one that has words of a person in it. */
export function saidByUser(words: string): Record<string, string> {
  return { [SAID]: words };
}

/** The words of a person in a message that is not theirs: an answer, the reason of a refusal, an edit of the plan. */
export function userWordsIn({ additional_kwargs, text }: BaseMessage): string | undefined {
  const { [SAID]: said, user_answered: isAnswer } = additional_kwargs;
  if (typeof said === "string") return said;
  return isAnswer === true ? text : undefined;
}

/** A person's decision about a call, as its result records it. */
export interface RecordedDecision {
  type: string;
  /** The person, where they are known by a name. */
  by?: string;
  /** Their words. */
  message?: string;
}

const DECIDED = "user_decided";

/** The fields that record a person's decision about a call in its result. */
export function decidedByUser({ type, by, message }: RecordedDecision): Record<string, RecordedDecision> {
  return { [DECIDED]: { type, ...(by && { by }), ...(message && { message }) } };
}

/** The decision of a person that a result records. */
export function decisionIn({ additional_kwargs }: BaseMessage): RecordedDecision | undefined {
  return additional_kwargs[DECIDED] as RecordedDecision | undefined;
}
