import type { AIMessage, ToolCall } from "@langchain/core/messages";
import type { Runtime, ToolCallRequest } from "langchain";
import { openCalls, placeOf, turnOf } from "../tools/index.ts";
import type { ConsentRule } from "./options.ts";

/** The rule by which a call waits for consent; undefined when it does not. */
export type RuleOf = (call: ToolCall) => ConsentRule | undefined;

/** Arguments of a rule's functions. */
export interface CallContext {
  state: ToolCallRequest["state"];
  runtime: Runtime;
}

/** The calls of one turn that wait for a person's consent. */
export interface AskingTurn {
  /** Absent for a call that is in no message. */
  message: AIMessage | undefined;
  asking: readonly ToolCall[];
  /** Calls that are never made. */
  refused: readonly ToolCall[];
  /** The place of the call at hand among them; -1 when it may simply run. */
  at: number;
}

/** Finds the turn that a call belongs to, and who else in it asks. */
export async function askingTurn(call: ToolCall, ruleOf: RuleOf, context: CallContext): Promise<AskingTurn> {
  const { messages } = context.state;
  const message = turnOf(messages, call.id);
  const calls = message ? openCalls(message, messages) : [];
  const own = placeOf(call, calls);
  const asking: ToolCall[] = [];
  const refused: ToolCall[] = [];
  let at = -1;
  for (const [index, other] of (own < 0 ? [call] : calls).entries()) {
    const isOwn = index === Math.max(own, 0);
    if (!isOwn && (await isRefused(other, ruleOf, context))) {
      refused.push(other);
      continue;
    }
    // Another middleware may have changed the arguments on their way here: what arrives is what would run.
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
    // It is not made, and says so itself.
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
    // Of its own call, which then is not run. The calls beside it must not fail for it.
    if (isOwn) throw error;
    return true;
  }
}
