import { isBaseMessage, type BaseMessage } from "@langchain/core/messages";
import { v4 } from "@langchain/core/utils/uuid";
import { messagesStateReducer, ReducedValue, type Messages } from "@langchain/langgraph";
import { z } from "zod";

/**
 * LangGraph's reducer of messages: the same lists, ids and errors. LangGraph's reads the whole list as if it were new
 * and makes an index of it, several times in a step; almost every step only adds messages, which takes one short look.
 */
export function addMessages(left: Messages, right: Messages): BaseMessage[] {
  const added = Array.isArray(right) ? right : [right];
  // Once: in a list that was just read, to look at a message takes longer than to copy the list.
  const messages = Array.isArray(left) ? [...left] : [left];
  if (!Array.isArray(left) || !isList(messages) || !isList(added) || !areNew(added, messages)) {
    return messagesStateReducer(left, right);
  }
  messages.push(...added);
  return messages;
}

/** The `messages` of an agent with this reducer, for the state schema of the agent or of a middleware. */
export function messagesField() {
  // LangGraph Studio knows a chat by these. LangChain makes an agent's input and output of the bare schemas.
  const described = { langgraph_type: "messages", description: "A list of chat messages" };
  const messages: z.ZodType<BaseMessage[], BaseMessage[] | undefined> = z
    .any()
    .default(() => [])
    .meta(described);
  const update: z.ZodType<Messages, Messages> = z.any().meta(described);
  return new ReducedValue(messages, {
    inputSchema: update,
    reducer: addMessages,
    jsonSchemaExtra: described,
  });
}

function isList(messages: unknown): messages is BaseMessage[] {
  return Array.isArray(messages) && messages.every(isBaseMessage);
}

/** The id of a message, which is given one where it has none. */
export function idOf(message: BaseMessage): string {
  return (message.id ??= message.lc_kwargs["id"] = v4());
}

/** Whether nothing is replaced or removed. Gives ids where there are none, as LangGraph does. */
function areNew(added: readonly BaseMessage[], messages: readonly BaseMessage[]): boolean {
  const ids = new Set<string>();
  for (const message of added) {
    if (message.type === "remove") return false;
    ids.add(idOf(message));
  }
  return ids.size === added.length && messages.every(({ id }) => typeof id === "string" && !ids.has(id));
}
