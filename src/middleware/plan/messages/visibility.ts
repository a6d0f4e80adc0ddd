import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { PlanSetup } from "../setup.ts";
import { reportsIn } from "./inline-argument.ts";

/** A cache of messages that show a plan. In a long thread most of them are near the beginning. */
const visiblePlans = new WeakSet<BaseMessage>();

/**
 * Whether these messages show the model its whole plan: an accepted full write that still has its arguments, a tool
 * result with the plan, or a context-loss reminder.
 */
export function isPlanVisible(messages: readonly BaseMessage[], setup: PlanSetup): boolean {
  // The fast path: this runs several times in every model call.
  if (messages.some((message) => visiblePlans.has(message) && shows(message, setup))) return true;
  const refused = new Set<string>();
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]!;
    if (shows(message, setup, refused)) {
      visiblePlans.add(message);
      return true;
    }
    if (message.type === "tool") {
      const { status, tool_call_id } = message as ToolMessage;
      if (status === "error") refused.add(tool_call_id);
    } else if (message.type === "ai") {
      // Some models restart their call ids in every turn.
      refused.clear();
    }
  }
  return false;
}

/** Whether a message shows the plan. Ignores writes with the `refused` ids. */
function shows(
  message: BaseMessage,
  { preset, toolNames }: PlanSetup,
  refused?: ReadonlySet<string>,
): boolean {
  const { tools, reminders } = preset;
  // By `type`: `isInstance` is slow for all messages of a long thread.
  switch (message.type) {
    case "ai":
      if (reportsIn(message).some(({ showsPlan }) => showsPlan)) return true;
      return Boolean(
        (message as AIMessage).tool_calls?.some(
          ({ name, id = "", args }) => name === tools.write.name && !refused?.has(id) && hasItems(args),
        ),
      );
    case "tool":
      return toolNames.includes(message.name ?? "") && message.text.includes("<plan>");
    case "human":
      return reminders.contextLoss !== false && message.name === reminders.contextLoss.name;
    default:
      return false;
  }
}

/** Whether a call still has arguments. Some middleware clears those of old calls. */
function hasItems(args: unknown): boolean {
  return typeof args === "object" && args !== null && Object.values(args).some((value) => Boolean(value));
}
