import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";
import { mark } from "../../marks.ts";
import { ownPartOf, ownText } from "../text/index.ts";
import { writesOf, type CallResult } from "./result-marks.ts";

/** A copy of a message with some fields replaced: the message itself may belong to the state. */
export function copyOf<Message extends BaseMessage>(message: Message, fields: object): Message {
  const copy = Object.create(Object.getPrototypeOf(message) as object) as Message;
  return Object.assign(copy, message, fields, { lc_kwargs: { ...message.lc_kwargs, ...fields } });
}

/** A copy of a message with a text appended. */
export function withText<Message extends BaseMessage>(message: Message, text: string): Message {
  const { content } = message;
  const longer = typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text", text }];
  return copyOf(message, { content: longer });
}

/** A copy of a message with words of the harness appended, which are marked as its own. */
export function withOwnWords<Message extends BaseMessage>(message: Message, text: string): Message {
  const longer = withText(message, text);
  const before = ownPartOf(message);
  const own = before !== "" && typeof longer.content === "string" ? `${before}\n\n${text}` : text;
  mark(longer, ownText(own));
  longer.lc_kwargs = { ...longer.lc_kwargs, additional_kwargs: longer.additional_kwargs };
  return longer;
}

/** A call's result with its messages changed. Other writes of a command stay. */
export function withMessages(result: CallResult, change: (message: ToolMessage) => ToolMessage): CallResult {
  if (!isCommand(result)) return change(result);
  const changeWrite = ([channel, value]: [string, unknown]): [string, unknown] =>
    channel === "messages"
      ? [channel, [value].flat().map((one) => (ToolMessage.isInstance(one) ? change(one) : one))]
      : [channel, value];
  const writes = writesOf(result).map(changeWrite);
  return withUpdate(result, Array.isArray(result.update) ? writes : Object.fromEntries(writes));
}

/** A copy of a command with another update. */
export function withUpdate({ graph, goto, resume }: Command, update: Command["update"]): Command {
  return new Command({
    ...(graph !== undefined && { graph }),
    ...(goto !== undefined && { goto }),
    ...(resume !== undefined && { resume }),
    ...(update !== undefined && { update }),
  });
}

/** The result of a call with a remark before its content. */
export function withNote(result: CallResult, note: string, id: string): CallResult {
  return withMessages(result, (message) => {
    if (isCommand(result) && message.tool_call_id !== id) return message;
    const { content } = message;
    const longer =
      typeof content === "string" ? `${note}\n${content}` : [{ type: "text", text: note }, ...content];
    return copyOf(message, { content: longer });
  });
}
