import { isDeepStrictEqual } from "node:util";
import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import type { Runtime, ToolCallRequest } from "langchain";
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
  const message = messages.findLast(
    (other): other is AIMessage =>
      AIMessage.isInstance(other) && (other.tool_calls ?? []).some(({ id }) => id === call.id),
  );
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

/** The calls of a message that nobody has answered before tools ran. */
function openCalls(message: AIMessage, messages: readonly BaseMessage[]): ToolCall[] {
  const replies = messages.slice(messages.indexOf(message) + 1);
  const answered = new Set(
    replies.flatMap((reply) => (ToolMessage.isInstance(reply) ? reply.tool_call_id : [])),
  );
  return (message.tool_calls ?? []).filter(({ id }) => id === undefined || !answered.has(id));
}

/** Some models give all calls of a turn one id; then the arguments tell them apart. */
function placeOf(call: ToolCall, calls: readonly ToolCall[]): number {
  const exact = calls.findIndex(
    ({ id, name, args }) => id === call.id && name === call.name && isDeepStrictEqual(args, call.args),
  );
  return exact >= 0 ? exact : calls.findIndex(({ id }) => id === call.id);
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
