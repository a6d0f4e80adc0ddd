import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";
import { writesOf } from "./result-marks.ts";

/** A copy of a message with other fields: the message itself may belong to the state. */
export function copyOf<Message extends BaseMessage>(message: Message, fields: object): Message {
  const copy = Object.create(Object.getPrototypeOf(message) as object) as Message;
  return Object.assign(copy, message, fields, { lc_kwargs: { ...message.lc_kwargs, ...fields } });
}

/** A message with a text behind its own. */
export function withText<Message extends BaseMessage>(message: Message, text: string): Message {
  const { content } = message;
  const longer = typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text", text }];
  return copyOf(message, { content: longer });
}

/** A call's result with other messages in the place of its own. What else it writes stays. */
export function withMessages(
  result: ToolMessage | Command,
  change: (message: ToolMessage) => ToolMessage,
): ToolMessage | Command {
  if (!isCommand(result)) return change(result);
  const put = ([channel, value]: [string, unknown]): [string, unknown] =>
    channel === "messages"
      ? [channel, [value].flat().map((one) => (ToolMessage.isInstance(one) ? change(one) : one))]
      : [channel, value];
  const writes = writesOf(result).map(put);
  return withUpdate(result, Array.isArray(result.update) ? writes : Object.fromEntries(writes));
}

/** A command with another update. */
export function withUpdate({ graph, goto, resume }: Command, update: Command["update"]): Command {
  return new Command({
    ...(graph !== undefined && { graph }),
    ...(goto !== undefined && { goto }),
    ...(resume !== undefined && { resume }),
    ...(update !== undefined && { update }),
  });
}

/** The result of a call with a remark in front. */
export function withNote(result: ToolMessage | Command, note: string, id: string): ToolMessage | Command {
  return withMessages(result, (message) => {
    if (isCommand(result) && message.tool_call_id !== id) return message;
    const { content } = message;
    const noted =
      typeof content === "string" ? `${note}\n${content}` : [{ type: "text", text: note }, ...content];
    return copyOf(message, { content: noted });
  });
}
