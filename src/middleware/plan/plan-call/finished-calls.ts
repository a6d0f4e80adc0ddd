import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { isFromUser } from "../../text/index.ts";
import { failedCommand, isHeld, isInterrupted, messagesOf, earlierResults } from "../../tools/index.ts";

/** A finished call to another tool than the plan's. */
export interface FinishedCall {
  name: string;
  args: Readonly<Record<string, unknown>>;
  /** Whether it is a command that ended with another exit code than 0. */
  isFailed: boolean;
}

/** The last finished calls, oldest first. */
export interface FinishedCalls {
  calls: readonly FinishedCall[];
  /** Calls before them, back to the user's last message before them. */
  earlier: readonly FinishedCall[];
  /** The number of earlier calls that are no longer in the conversation. */
  gone: number;
}

/** The last `count` finished calls of a conversation. */
export function lastCalls(
  messages: readonly BaseMessage[],
  { count, planTools }: { count: number; planTools: readonly string[] },
): FinishedCalls {
  const finished: FinishedCall[] = [];
  let results: ToolMessage[] = [];
  for (const message of messages.toReversed()) {
    if (finished.length >= count && isFromUser(message)) break;
    if (ToolMessage.isInstance(message)) results.push(message);
    if (!AIMessage.isInstance(message)) continue;
    finished.push(...results.flatMap((result) => finishedCall(result, message, planTools) ?? []));
    results = [];
  }
  return {
    calls: finished.slice(0, count).toReversed(),
    earlier: finished.slice(count).toReversed(),
    gone: Math.max(0, count - finished.length),
  };
}

/** The calls that finished before a plan call of the same message. Empty unless a middleware keeps calls in order. */
export function callsInFront(
  id: string | undefined,
  { message, configurable }: { message: AIMessage | undefined; configurable?: Record<string, unknown> },
  planTools: readonly string[],
): FinishedCall[] {
  if (!message || id === undefined) return [];
  const results = (earlierResults(id, configurable) ?? []).flatMap(messagesOf);
  return results.flatMap((result) => finishedCall(result, message, planTools) ?? []);
}

/** The call that a result belongs to; undefined if it is a plan call or did not finish. */
function finishedCall(
  result: ToolMessage,
  message: AIMessage,
  planTools: readonly string[],
): FinishedCall | undefined {
  const call = (message.tool_calls ?? []).find(({ id }) => id === result.tool_call_id);
  const name = call?.name ?? result.name ?? "";
  if (result.status === "error" || isHeld(result) || isInterrupted(result) || planTools.includes(name))
    return undefined;
  return { name, args: call?.args ?? {}, isFailed: failedCommand(result) !== undefined };
}
