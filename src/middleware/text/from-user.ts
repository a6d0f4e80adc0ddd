import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { markOf, marks, type RecordedDecision } from "../../marks.ts";

/** Whether a message is the user's own, and not a reminder or a summary. */
export function isFromUser(message: BaseMessage): boolean {
  // Runs for every message of every model call: `isInstance` is too slow here.
  if (message.type !== "human") return false;
  return markOf(message, "hide_from_ui") !== true && markOf(message, "lc_source") === undefined;
}

/** A message of Holdfast with the role of the user; user interfaces hide it. `kind` is that of a plan's reminder. */
export function hiddenMessage({
  name,
  text,
  kind,
}: {
  name: string;
  text: string;
  kind?: string;
}): HumanMessage {
  const additional_kwargs = marks({ hide_from_ui: true, ...(kind && { holdfast_reminder: kind }) });
  return new HumanMessage({ content: text, name, additional_kwargs });
}

/** A hidden message that is a `<system_reminder>`. */
export function reminderMessage(name: string, text: string): HumanMessage {
  return hiddenMessage({ name, text: `<system_reminder>${text}</system_reminder>` });
}

/** The user's words in a message that is not theirs: an answer, the reason for a refusal, an edit of the plan. */
export function userWordsIn(message: BaseMessage): string | undefined {
  const words = markOf(message, "user_said");
  if (typeof words === "string") return words;
  return markOf(message, "user_answered") === true ? message.text : undefined;
}

/** Fields that record the user's decision about a call in its result. */
export function decidedByUser({
  type,
  by,
  message,
}: RecordedDecision): Partial<{ user_decided: RecordedDecision }> {
  return { user_decided: { type, ...(by && { by }), ...(message && { message }) } };
}
