import { isBaseMessage, type BaseMessage } from "@langchain/core/messages";
import { v4 } from "@langchain/core/utils/uuid";
import { messagesStateReducer, ReducedValue, type Messages } from "@langchain/langgraph";
import { z } from "zod";

/**
 * A faster version of LangGraph's reducer of messages, with the same lists, ids and errors. LangGraph's reads and
 * indexes the whole list several times in a step; this one has a short path for steps that only add messages.
 */
export function addMessages(left: Messages, right: Messages): BaseMessage[] {
  const added = Array.isArray(right) ? right : [right];
  if (!Array.isArray(left) || !isList(added)) return messagesStateReducer(left, right);
  // Copied once: in a list that was just read, a look at a message takes longer than a copy of the list.
  const messages = [...left] as BaseMessage[];
  const places = placesIn(left, messages);
  if (!places || !areNew(added, places, messages.length)) return messagesStateReducer(left, right);
  for (const message of added) addPlace(places, idOf(message), messages.push(message) - 1);
  placesByList.set(messages, places);
  return messages;
}

/**
 * The first index of each id in lists that continue one another. An index behind the end of a list belongs to another
 * of these lists.
 */
type Places = Map<string, number>;
const placesByList = new WeakMap<object, Places>();

/** The number of last messages that are checked again, in case they or their list were changed. */
const CHECKED_MESSAGES = 16;

/** The places of all ids in a list; undefined if it contains anything but messages with ids. */
function placesIn(left: object, messages: readonly unknown[]): Places | undefined {
  const cached = placesByList.get(left);
  if (cached && isUnchanged(messages, cached)) return cached;
  const places: Places = new Map();
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (!isBaseMessage(message) || typeof message.id !== "string") return undefined;
    if (!places.has(message.id)) places.set(message.id, at);
  }
  return places;
}

function addPlace(places: Places, id: string, at: number): void {
  places.set(id, Math.min(at, places.get(id) ?? at));
}

function isUnchanged(messages: readonly unknown[], places: Places): boolean {
  for (let at = Math.max(0, messages.length - CHECKED_MESSAGES); at < messages.length; at++) {
    const message = messages[at];
    if (!isBaseMessage(message) || (places.get(message.id!) ?? Infinity) > at) return false;
  }
  return true;
}

/** The field `messages` with this reducer, for the state schema of an agent or a middleware. */
export function messagesField() {
  // LangGraph Studio recognizes a chat by these. LangChain builds an agent's input and output from the bare schemas.
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

/** Whether a channel is a list of messages with ids, kept by LangGraph's reducer or by this one. */
export function isMessageList(channel: unknown): boolean {
  const { operator } = (channel ?? {}) as { operator?: unknown };
  return operator === messagesStateReducer || operator === addMessages;
}

function isList(messages: unknown): messages is BaseMessage[] {
  return Array.isArray(messages) && messages.every(isBaseMessage);
}

/** The id of a message. Gives it one if it has none. */
export function idOf(message: BaseMessage): string {
  return (message.id ??= message.lc_kwargs["id"] = v4());
}

/**
 * Gives a message a new id if another one has the same. Some providers give all their answers one id, and a message
 * replaces another with its id.
 */
export function giveOwnId(message: BaseMessage, others: readonly BaseMessage[]): void {
  if (others.some((other) => other.id === message.id)) setId(message, v4());
}

export function setId(message: BaseMessage, id: string): void {
  message.id = id;
  // Stores save these arguments.
  message.lc_kwargs = { ...message.lc_kwargs, id };
}

/** Whether the messages replace and remove nothing. Gives ids to messages without one, as LangGraph does. */
function areNew(added: readonly BaseMessage[], places: Places, length: number): boolean {
  const ids = new Set<string>();
  for (const message of added) {
    if (message.type === "remove") return false;
    ids.add(idOf(message));
  }
  return ids.size === added.length && [...ids].every((id) => (places.get(id) ?? length) >= length);
}
