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
  if (!Array.isArray(left) || !isList(added)) return messagesStateReducer(left, right);
  // Once: in a list that was just read, to look at a message takes longer than to copy the list.
  const messages = [...left] as BaseMessage[];
  const places = placesIn(left, messages);
  if (!places || !areNew(added, places, messages.length)) return messagesStateReducer(left, right);
  for (const message of added) note(places, idOf(message), messages.push(message) - 1);
  made.set(messages, places);
  return messages;
}

/**
 * Where each id stands first in the lists that go on from one another: one that stands behind the end of a list is in
 * another of them.
 */
type Places = Map<string, number>;
const made = new WeakMap<object, Places>();

/** So many of the last messages are looked at again, in case somebody has changed them or their list. */
const WATCHED = 16;

/** The places of all ids in a list; undefined where it has something else than messages with ids. */
function placesIn(left: object, messages: readonly unknown[]): Places | undefined {
  const known = made.get(left);
  if (known && isAsMade(messages, known)) return known;
  const places: Places = new Map();
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (!isBaseMessage(message) || typeof message.id !== "string") return undefined;
    if (!places.has(message.id)) places.set(message.id, at);
  }
  return places;
}

function note(places: Places, id: string, at: number): void {
  places.set(id, Math.min(at, places.get(id) ?? at));
}

function isAsMade(messages: readonly unknown[], places: Places): boolean {
  for (let at = Math.max(0, messages.length - WATCHED); at < messages.length; at++) {
    const message = messages[at];
    if (!isBaseMessage(message) || (places.get(message.id!) ?? Infinity) > at) return false;
  }
  return true;
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

/** Whether a channel of a graph is a list of messages that each have an id, by LangGraph's reducer or by this one. */
export function isMessageList(channel: unknown): boolean {
  const { operator } = (channel ?? {}) as { operator?: unknown };
  return operator === messagesStateReducer || operator === addMessages;
}

function isList(messages: unknown): messages is BaseMessage[] {
  return Array.isArray(messages) && messages.every(isBaseMessage);
}

/** The id of a message, which is given one where it has none. */
export function idOf(message: BaseMessage): string {
  return (message.id ??= message.lc_kwargs["id"] = v4());
}

/**
 * Gives a message an id of its own where it has that of another: some providers give all their answers one id, and a
 * message replaces another of its id.
 */
export function giveOwnId(message: BaseMessage, others: readonly BaseMessage[]): void {
  if (others.some((other) => other.id === message.id)) setId(message, v4());
}

export function setId(message: BaseMessage, id: string): void {
  message.id = id;
  // It is stored with these.
  message.lc_kwargs = { ...message.lc_kwargs, id };
}

/** Whether nothing is replaced or removed. Gives ids where there are none, as LangGraph does. */
function areNew(added: readonly BaseMessage[], places: Places, length: number): boolean {
  const ids = new Set<string>();
  for (const message of added) {
    if (message.type === "remove") return false;
    ids.add(idOf(message));
  }
  return ids.size === added.length && [...ids].every((id) => (places.get(id) ?? length) >= length);
}
