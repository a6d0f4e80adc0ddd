import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";

/** A tool call to make. */
export interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** A tool call that was made, and what came of it. */
export interface DoneCall extends Call {
  result: string;
  failed: boolean;
}

/** What was asked last, and what has been done about it. */
export interface Conversation {
  request: string;
  calls: DoneCall[];
}

/** Words for the user, or tool calls. */
export type Answer = string | Call[];

export function call(name: string, args: Record<string, unknown>): Call {
  return { name, args };
}

/** Reads a model request. Reminders of the harness are not requests of the user. */
export function readConversation(messages: readonly BaseMessage[]): Conversation {
  const start = messages.findLastIndex(
    (message) => HumanMessage.isInstance(message) && message.additional_kwargs["hide_from_ui"] !== true,
  );
  const since = messages.slice(start + 1);
  const results = new Map(
    since.filter((message) => ToolMessage.isInstance(message)).map((reply) => [reply.tool_call_id, reply]),
  );
  const calls = since
    .filter((message) => AIMessage.isInstance(message))
    .flatMap((message) => message.tool_calls ?? [])
    .map(({ name, args, id = "" }) => {
      const reply = results.get(id);
      return { name, args, result: reply?.text ?? "", failed: reply?.status === "error" };
    });
  return { request: (messages[start]?.text ?? "").replaceAll(/[ \t]+/g, " ").trim(), calls };
}
