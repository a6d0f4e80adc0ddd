import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { PlanSetup } from "../setup.ts";
import { reportsIn } from "./inline-argument.ts";

/**
 * Accepted writes and other messages that were found to show a plan: most stand near the beginning of a long thread.
 */
const found = new WeakSet<BaseMessage>();

/**
 * Whether a model that is sent these messages sees its whole plan: an accepted full write whose arguments are
 * still there, a tool result that shows the plan, or a context-loss reminder.
 */
export function isPlanVisible(messages: readonly BaseMessage[], setup: PlanSetup): boolean {
  // Asked several times in every model call.
  if (messages.some((message) => found.has(message) && shows(message, setup))) return true;
  const refused = new Set<string>();
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]!;
    if (shows(message, setup, refused)) {
      found.add(message);
      return true;
    }
    if (message.type === "tool") {
      const { status, tool_call_id } = message as ToolMessage;
      if (status === "error") refused.add(tool_call_id);
    } else if (message.type === "ai") {
      // Some models count their call ids anew in every turn.
      refused.clear();
    }
  }
  return false;
}

/** Whether a message shows the plan by itself, writes of these ids not counted. */
function shows(
  message: BaseMessage,
  { preset, toolNames }: PlanSetup,
  refused?: ReadonlySet<string>,
): boolean {
  const { tools, reminders } = preset;
  // `isInstance` asks much of every message of a long thread.
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

/** Some middleware blanks the arguments of old tool calls: then the call no longer shows the plan. */
function hasItems(args: unknown): boolean {
  return typeof args === "object" && args !== null && Object.values(args).some((value) => Boolean(value));
}
