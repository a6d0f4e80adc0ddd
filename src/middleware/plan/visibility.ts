import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { PlanSetup } from "./options.ts";

/**
 * Whether a model that is sent these messages sees its whole plan: an accepted full write whose arguments are
 * still there, a tool result that shows the plan, or a context-loss reminder.
 */
export function isPlanVisible(messages: readonly BaseMessage[], { preset, toolNames }: PlanSetup): boolean {
  const { write } = preset.tools;
  const reminder = preset.reminders.contextLoss ? preset.reminders.contextLoss.name : undefined;
  const refused = new Set<string>();
  // Every message of a long thread passes here in every model call: `type` is read where `isInstance` would be asked.
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]!;
    if (message.type === "tool") {
      const { status, tool_call_id, name } = message as ToolMessage;
      if (status === "error") refused.add(tool_call_id);
      if (toolNames.includes(name ?? "") && message.text.includes("<plan>")) return true;
    } else if (message.type === "human") {
      if (reminder !== undefined && message.name === reminder) return true;
    } else if (message.type === "ai") {
      const shown = (message as AIMessage).tool_calls?.some(
        (call) => call.name === write.name && !refused.has(call.id ?? "") && hasItems(call.args),
      );
      if (shown) return true;
      // Some models count their call ids anew in every turn.
      refused.clear();
    }
  }
  return false;
}

/** Some middleware blanks the arguments of old tool calls: then the call no longer shows the plan. */
function hasItems(args: unknown): boolean {
  return typeof args === "object" && args !== null && Object.values(args).some((value) => Boolean(value));
}
