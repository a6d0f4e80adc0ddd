import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import { scratchpadOf } from "../../langgraph/index.ts";
import { isSame } from "../../plan/todo/index.ts";
import type { CallResult } from "./result-marks.ts";

/** The message that a call stands in. */
export function turnOf(messages: readonly BaseMessage[], id: string | undefined): AIMessage | undefined {
  return messages.findLast(
    (message): message is AIMessage =>
      AIMessage.isInstance(message) && (message.tool_calls ?? []).some((call) => call.id === id),
  );
}

/** The model's last answer in a conversation, and the results behind it. */
export function lastTurn(messages: readonly BaseMessage[]): {
  answer: AIMessage | undefined;
  results: ToolMessage[];
} {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const results = messages.slice(at + 1).filter((message) => ToolMessage.isInstance(message));
  return { answer: messages[at] as AIMessage | undefined, results };
}

/** The calls of a message that nobody has answered: another middleware may have refused some before tools ran. */
export function openCalls(message: AIMessage, messages: readonly BaseMessage[]): ToolCall[] {
  const replies = messages.slice(messages.indexOf(message) + 1);
  const answered = new Set(
    replies.flatMap((reply) => (ToolMessage.isInstance(reply) ? reply.tool_call_id : [])),
  );
  return (message.tool_calls ?? []).filter(({ id }) => id === undefined || !answered.has(id));
}

/** The place of a call. Some models give all calls of a turn one id; then the arguments tell them apart. */
export function placeOf({ id, name, args }: ToolCall, calls: readonly ToolCall[]): number {
  const exact = calls.findIndex(
    (other) => other.id === id && other.name === name && isSame(other.args, args),
  );
  return exact >= 0 ? exact : calls.findIndex((other) => other.id === id);
}

/** The results of the calls of its message that a call has followed, in their order. */
type ResultsBefore = (id: string) => CallResult[];

const ofTask = new WeakMap<object, ResultsBefore>();

/** Lets the tools of a task know the results of earlier calls of their message. Said by whatever keeps the order. */
export function keepEarlierResults(
  configurable: Record<string, unknown> | undefined,
  resultsBefore: ResultsBefore,
): void {
  const task = scratchpadOf(configurable);
  if (task) ofTask.set(task, resultsBefore);
}

/** The results of the calls of its message that one has followed; undefined where nothing keeps the order. */
export function earlierResults(
  id: string,
  configurable: Record<string, unknown> | undefined,
): CallResult[] | undefined {
  const task = scratchpadOf(configurable);
  return task && ofTask.get(task)?.(id);
}

const withheld = new WeakMap<AIMessage, ReadonlySet<string | undefined>>();

/**
 * Says which calls of a turn wait for a person. Tools that work out what the calls before theirs come to have to leave
 * these out: nobody knows yet whether they will be made. To be called before a tool of the turn runs.
 */
export function withholdCalls(turn: AIMessage, calls: readonly { id?: string }[]): void {
  withheld.set(turn, new Set(calls.map(({ id }) => id)));
}

export function isWithheld(turn: AIMessage, { id }: { id?: string }): boolean {
  return withheld.get(turn)?.has(id) ?? false;
}
