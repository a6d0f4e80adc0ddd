import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { isFromUser } from "../../text/index.ts";
import { failedCommand, isHeld, isUnfinished, messagesOf, earlierResults } from "../../tools/index.ts";

/** A call to another tool than the plan's that has finished. */
export interface FinishedCall {
  name: string;
  args: Readonly<Record<string, unknown>>;
  /** A command that ended with another exit code than 0. */
  isFailed: boolean;
}

/** The last calls that finished, oldest first. */
export interface FinishedCalls {
  calls: readonly FinishedCall[];
  /** Calls before them, back to the user's message that led to them. */
  earlier: readonly FinishedCall[];
  /** The number of earlier calls that are no longer in the conversation. */
  gone: number;
}

/** The last `count` calls of a conversation that finished. */
export function lastCalls(
  messages: readonly BaseMessage[],
  { count, planTools }: { count: number; planTools: readonly string[] },
): FinishedCalls {
  const found: FinishedCall[] = [];
  let results: ToolMessage[] = [];
  for (const message of messages.toReversed()) {
    if (found.length >= count && isFromUser(message)) break;
    if (ToolMessage.isInstance(message)) results.push(message);
    if (!AIMessage.isInstance(message)) continue;
    found.push(...results.flatMap((result) => finishedCall(result, message, planTools) ?? []));
    results = [];
  }
  return {
    calls: found.slice(0, count).toReversed(),
    earlier: found.slice(count).toReversed(),
    gone: Math.max(0, count - found.length),
  };
}

/** The calls of its message that finished before a plan call, where something keeps their order. */
export function callsInFront(
  id: string | undefined,
  {
    message,
    configurable,
  }: { message: AIMessage | undefined; configurable?: Record<string, unknown> | undefined },
  planTools: readonly string[],
): FinishedCall[] {
  if (!message || id === undefined) return [];
  const results = (earlierResults(id, configurable) ?? []).flatMap(messagesOf);
  return results.flatMap((result) => finishedCall(result, message, planTools) ?? []);
}

/** The call of a message that a result is of; undefined where it is the plan's own, or did not finish. */
function finishedCall(
  result: ToolMessage,
  message: AIMessage,
  planTools: readonly string[],
): FinishedCall | undefined {
  const call = (message.tool_calls ?? []).find(({ id }) => id === result.tool_call_id);
  const name = call?.name ?? result.name ?? "";
  if (result.status === "error" || isHeld(result) || isUnfinished(result) || planTools.includes(name))
    return undefined;
  return { name, args: call?.args ?? {}, isFailed: failedCommand(result) !== undefined };
}
