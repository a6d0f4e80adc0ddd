import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import { setArguments } from "../../tools/call-arguments.ts";
import { isCutNote } from "../../tools/refused-texts.ts";
import { isHeld } from "../../tools/result-marks.ts";
import { plainPath } from "./change-file.ts";

const WRITE = "write_file";
const CHANGING = new Set([WRITE, "edit_file", "delete_file"]);

function isHeldWrite(message: BaseMessage): message is ToolMessage {
  return ToolMessage.isInstance(message) && message.name === WRITE && isHeld(message);
}

/**
 * Gives calls that confirm a write the text that was held back, so that tools, people and views get a whole call. In
 * place: LangChain keeps the message that the model gave.
 */
export function fillConfirmed(answer: unknown, messages: readonly BaseMessage[]): void {
  if (!AIMessage.isInstance(answer)) return;
  const isOpen = ({ name, args }: ToolCall): boolean =>
    name === WRITE && isConfirming(args) && (args["content"] === undefined || isCutNote(args["content"]));
  if (!answer.tool_calls?.some(isOpen)) return;
  setArguments(answer, (call) => {
    const content = isOpen(call) ? heldText(messages, call.args["file_path"]) : undefined;
    return content === undefined ? undefined : { ...call.args, content };
  });
}

function isConfirming({ confirm }: Record<string, unknown>): boolean {
  return confirm === true || confirm === "true";
}

/** The text of the last change of a file, where that was a write that was held back. */
function heldText(messages: readonly BaseMessage[], path: unknown): string | undefined {
  if (typeof path !== "string") return undefined;
  const last = messages.findLast((message): message is ToolMessage => {
    if (!ToolMessage.isInstance(message) || !CHANGING.has(message.name ?? "")) return false;
    if (message.status === "error" && !isHeldWrite(message)) return false;
    const given = callOf(message, messages)?.args["file_path"];
    return typeof given === "string" && plainPath(given) === plainPath(path);
  });
  const content = last && isHeldWrite(last) ? callOf(last, messages)?.args["content"] : undefined;
  return typeof content === "string" ? content : undefined;
}

function callOf({ tool_call_id }: ToolMessage, messages: readonly BaseMessage[]): ToolCall | undefined {
  return messages
    .findLast(
      (message): message is AIMessage =>
        AIMessage.isInstance(message) && (message.tool_calls ?? []).some(({ id }) => id === tool_call_id),
    )
    ?.tool_calls?.find(({ id }) => id === tool_call_id);
}
