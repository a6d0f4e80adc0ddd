import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import { scratchpadOf } from "../../langgraph/index.ts";
import { isSame } from "../../plan/todo/index.ts";
import type { CallResult } from "./result-marks.ts";

/** The message that contains a call. */
export function turnOf(messages: readonly BaseMessage[], id: string | undefined): AIMessage | undefined {
  return messages.findLast(
    (message): message is AIMessage =>
      AIMessage.isInstance(message) && (message.tool_calls ?? []).some((call) => call.id === id),
  );
}

/** The model's last answer in a conversation, and the results after it. */
export function lastTurn(messages: readonly BaseMessage[]): {
  answer: AIMessage | undefined;
  results: ToolMessage[];
} {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const results = messages.slice(at + 1).filter((message) => ToolMessage.isInstance(message));
  return { answer: messages[at] as AIMessage | undefined, results };
}

/** The calls of a message without a result: another middleware may have refused some before tools ran. */
export function openCalls(message: AIMessage, messages: readonly BaseMessage[]): ToolCall[] {
  const replies = messages.slice(messages.indexOf(message) + 1);
  const answered = new Set(
    replies.flatMap((reply) => (ToolMessage.isInstance(reply) ? reply.tool_call_id : [])),
  );
  return (message.tool_calls ?? []).filter(({ id }) => id === undefined || !answered.has(id));
}

/** The index of a call. Some models give all calls of a turn one id; then the arguments tell them apart. */
export function callPosition({ id, name, args }: ToolCall, calls: readonly ToolCall[]): number {
  const exact = calls.findIndex(
    (other) => other.id === id && other.name === name && isSame(other.args, args),
  );
  return exact >= 0 ? exact : calls.findIndex((other) => other.id === id);
}

/** Returns the results of the earlier calls of its message that a call has waited for, in their order. */
type ResultsBefore = (id: string) => CallResult[];

const resultsByTask = new WeakMap<object, ResultsBefore>();

/** Makes the results of earlier calls of a message available to the tools of a task; see `earlierResults`. */
export function keepEarlierResults(
  configurable: Record<string, unknown> | undefined,
  resultsBefore: ResultsBefore,
): void {
  const task = scratchpadOf(configurable);
  if (task) resultsByTask.set(task, resultsBefore);
}

/** The results of the calls that a call has waited for; undefined without `orderedCallsMiddleware`. */
export function earlierResults(
  id: string,
  configurable: Record<string, unknown> | undefined,
): CallResult[] | undefined {
  const task = scratchpadOf(configurable);
  return task && resultsByTask.get(task)?.(id);
}

const withheldIds = new WeakMap<AIMessage, ReadonlySet<string | undefined>>();

/**
 * Notes the calls of a turn that wait for the user. Tools that compute the effect of earlier calls leave these out, as
 * they may never be made. Call it before a tool of the turn runs.
 */
export function withholdCalls(turn: AIMessage, calls: readonly { id?: string }[]): void {
  withheldIds.set(turn, new Set(calls.map(({ id }) => id)));
}

export function isWithheld(turn: AIMessage, { id }: { id?: string }): boolean {
  return withheldIds.get(turn)?.has(id) ?? false;
}
