import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware, todoListMiddleware, type AgentMiddleware } from "langchain";
import { z } from "zod";

const MAX_COMPLETION_REMINDERS = 2;

interface PeerTodo {
  content: string;
  status: string;
}

/**
 * DeerFlow's two reminders on top of LangChain's middleware, written from their description: the list is shown
 * again when no `write_todos` call is visible, and an answer with open items is sent back, at most twice.
 */
export function deerflowPeer(): AgentMiddleware[] {
  // LangChain drops a jump to the model from the hook that runs last, which is the first one in the list.
  return [todoListMiddleware(), reminders()];
}

function reminders() {
  return createMiddleware({
    name: "DeerFlowReminders",
    stateSchema: z.object({ todos: z.array(z.any()).optional() }),
    beforeModel: ({ messages, todos = [] }) => {
      if (todos.length === 0 || messages.some(showsList)) return undefined;
      const text = `Your todo list is no longer in view, but it is still active:\n\n${lines(todos as PeerTodo[])}\n\nKeep it up to date with write_todos.`;
      return { messages: [reminder("todo_reminder", text)] };
    },
    afterModel: {
      canJumpTo: ["model"],
      hook: ({ messages, todos = [] }) => {
        const last = messages.at(-1);
        if (!AIMessage.isInstance(last) || (last.tool_calls ?? []).length > 0) return undefined;
        const open = (todos as PeerTodo[]).filter(({ status }) => status !== "completed");
        if (open.length === 0 || count(messages) >= MAX_COMPLETION_REMINDERS) return undefined;
        const text = `Your todo list has open items:\n\n${lines(open)}\n\nFinish them and mark them completed with write_todos before you answer.`;
        return { messages: [reminder("todo_completion_reminder", text)], jumpTo: "model" };
      },
    },
  });
}

function showsList(message: BaseMessage): boolean {
  if (message.name === "todo_reminder") return true;
  return (
    AIMessage.isInstance(message) && (message.tool_calls ?? []).some(({ name }) => name === "write_todos")
  );
}

function count(messages: readonly BaseMessage[]): number {
  return messages.filter((message) => message.name === "todo_completion_reminder").length;
}

function lines(todos: readonly PeerTodo[]): string {
  return todos.map(({ content, status }) => `- [${status}] ${content}`).join("\n");
}

function reminder(name: string, text: string): HumanMessage {
  return new HumanMessage({ name, content: `<system_reminder>\n${text}\n</system_reminder>` });
}
