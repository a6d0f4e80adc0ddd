import { isDeepStrictEqual } from "node:util";
import { ToolMessage } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import { saidByUser } from "../text/from-user.ts";
import { shortened } from "../text/shortened.ts";
import { withNote } from "../tools/noted-result.ts";
import { CONSENT_TEXTS } from "./consent.prompt.ts";

type Arguments = Record<string, unknown>;

/** Tells the model, with the result of a call, that it was not made as the model wrote it: its message stays as it is. */
export function withEditNote(
  result: ToolMessage | Command,
  { id, before, after }: { id: string; before: Arguments; after: Arguments },
): ToolMessage | Command {
  const note = CONSENT_TEXTS.edited.replace("{changes}", () => changesOf(before, after));
  return withMarks(withNote(result, note, id), id, saidByUser(note));
}

/** Adds fields to the message that answers a call. */
export function withMarks(
  result: ToolMessage | Command,
  id: string,
  marks: Record<string, unknown>,
): ToolMessage | Command {
  for (const message of messagesIn(result)) {
    if (message.tool_call_id !== id) continue;
    message.additional_kwargs = { ...message.additional_kwargs, ...marks };
  }
  return result;
}

function messagesIn(result: ToolMessage | Command): ToolMessage[] {
  if (ToolMessage.isInstance(result)) return [result];
  const { update } = result as { update?: { messages?: unknown } };
  const messages: unknown[] = Array.isArray(update?.messages) ? update.messages : [];
  return messages.filter((message) => ToolMessage.isInstance(message));
}

/** The characters shown of an argument. */
const MOST = 200;

function changesOf(before: Arguments, after: Arguments): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((name) =>
      name in after ? `${name} is ${shortened(JSON.stringify(after[name]), MOST)}` : `${name} was left out`,
    )
    .join("; ");
}
