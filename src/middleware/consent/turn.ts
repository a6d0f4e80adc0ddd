import type { AIMessage, ToolCall } from "@langchain/core/messages";
import type { Runtime, ToolCallRequest } from "langchain";
import { openCalls, callPosition, turnOf } from "../tools/index.ts";
import type { ConsentRule } from "./options.ts";

/** Returns the rule by which a call waits for consent; undefined if it does not. */
export type RuleOf = (call: ToolCall) => ConsentRule | undefined;

/** Arguments of a rule's functions. */
export interface CallContext {
  state: ToolCallRequest["state"];
  runtime: Runtime;
}

/** The calls of one turn that wait for the user's consent. */
export interface AskingTurn {
  /** Undefined if no message contains the call. */
  message: AIMessage | undefined;
  asking: readonly ToolCall[];
  /** Calls that are never made. */
  refused: readonly ToolCall[];
  /** The index of the current call in `asking`; -1 if it needs no consent. */
  at: number;
}

/** Finds the turn of a call, and the calls in it that need consent. */
export async function askingTurn(call: ToolCall, ruleOf: RuleOf, context: CallContext): Promise<AskingTurn> {
  const { messages } = context.state;
  const message = turnOf(messages, call.id);
  const calls = message ? openCalls(message, messages) : [];
  const ownIndex = callPosition(call, calls);
  const asking: ToolCall[] = [];
  const refused: ToolCall[] = [];
  let at = -1;
  for (const [index, other] of (ownIndex < 0 ? [call] : calls).entries()) {
    const isOwn = index === Math.max(ownIndex, 0);
    if (!isOwn && (await isRefused(other, ruleOf, context))) {
      refused.push(other);
      continue;
    }
    // Another middleware may have changed the arguments: the call that arrives here is the one that would run.
    if (!(await mustAsk(isOwn ? call : other, ruleOf, { ...context, isOwn }))) continue;
    if (isOwn) at = asking.length;
    asking.push(isOwn ? call : other);
  }
  return { message, asking, refused, at };
}

async function isRefused(toolCall: ToolCall, ruleOf: RuleOf, context: CallContext): Promise<boolean> {
  try {
    return (await ruleOf(toolCall)?.refuse?.({ toolCall, ...context })) !== undefined;
  } catch {
    // The call reports this error itself when it is handled.
    return true;
  }
}

async function mustAsk(
  toolCall: ToolCall,
  ruleOf: RuleOf,
  { state, runtime, isOwn }: CallContext & { isOwn: boolean },
): Promise<boolean> {
  const rule = ruleOf(toolCall);
  if (!rule?.when) return rule !== undefined;
  try {
    return await rule.when({ toolCall, tool: undefined, state, runtime });
  } catch (error) {
    // An error about the call itself keeps it from running. An error about another call must not fail this one.
    if (isOwn) throw error;
    return true;
  }
}
