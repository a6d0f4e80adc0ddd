import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { markOf, metadataMark, metadataOf } from "../../../marks.ts";

/** The finish reason of a run whose budget was used up. */
export const BUDGET_REASON = "budget";

/** The providers' finish reasons for the output limit. */
const CUT_OFF = ["length", "max_tokens", "model_length"];

/** Finish reasons of messages that are not final answers. */
const NOT_AN_ANSWER = new Set([
  ...CUT_OFF,
  "tool_calls",
  "function_call",
  "tool_use",
  "content_filter",
  "content_filtered",
  "refusal",
  "safety",
  "recitation",
  "pause_turn",
  "guardrail_intervened",
  "error",
  "loop_guard",
  BUDGET_REASON,
]);

/** Whether a model's message is a final answer: without tool calls in any form, not cut off, not filtered. */
export function isFinalAnswer(message: AIMessage): boolean {
  if (metadataMark(message, "holdfast_work_goes_on") === true) return false;
  if ((message.tool_calls?.length ?? 0) > 0 || (message.invalid_tool_calls?.length ?? 0) > 0) return false;
  const raw = message.additional_kwargs ?? {};
  if (Array.isArray(raw["tool_calls"]) && raw["tool_calls"].length > 0) return false;
  if (raw["function_call"]) return false;
  return !stopReasons(message).some((reason) => NOT_AN_ANSWER.has(reason));
}

/** Whether a model's message ended at the output limit. */
export function isCutOff(message: AIMessage): boolean {
  return stopReasons(message).some((reason) => CUT_OFF.includes(reason));
}

/** Whether a text ends with a question mark. */
export function asksBack(text: string): boolean {
  return /[?？؟]["'”’»)\]*_`\s]*$/u.test(text);
}

/** Whether the model's last tool calls asked the user a question, so that an answer now waits for the reply. */
export function isAwaitingUser(messages: readonly BaseMessage[], askTools: readonly string[]): boolean {
  const reply = messages.at(-1);
  if (ToolMessage.isInstance(reply) && markOf(reply, "user_answered") === true) return false;
  const last = messages.findLast(
    (message) =>
      HumanMessage.isInstance(message) ||
      (AIMessage.isInstance(message) && (message.tool_calls?.length ?? 0) > 0),
  );
  return AIMessage.isInstance(last) && (last.tool_calls ?? []).some((call) => askTools.includes(call.name));
}

/**
 * The finish reasons of a message, in lower case. OpenAI calls the field finish_reason, Anthropic stop_reason, Ollama
 * done_reason, Google finishReason, Bedrock stopReason.
 */
function stopReasons(message: AIMessage): string[] {
  const metadata = metadataOf(message);
  const raw = message.additional_kwargs;
  const keys = ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason"];
  const { incomplete_details: incomplete } = metadata as { incomplete_details?: { reason?: unknown } };
  return [...keys.flatMap((key) => [metadata[key], raw?.[key]]), incomplete?.reason]
    .filter((reason) => typeof reason === "string")
    .map((reason) => (reason === "max_output_tokens" ? "length" : reason.toLowerCase()));
}
