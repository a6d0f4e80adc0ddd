// The AI SDK: `useChat` of `@ai-sdk/react` draws what this object has.
import { Chat as ChatOfHook } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import type { Chat, Seen } from "./chat.ts";

type Message = UIMessage<unknown, { "plan-change": { counts: { completed: number; total: number } } }>;

/** `api` is the address of the route. */
export function connect(api: string): Chat {
  let plan: string | undefined;
  const chat = new ChatOfHook<Message>({
    transport: new DefaultChatTransport({ api }),
    onData: ({ type, data }) => {
      if (type === "data-plan-change") plan = `${data.counts.completed}/${data.counts.total}`;
    },
  });
  const seen = async (done: Promise<void>): Promise<Seen> => {
    await done;
    if (chat.error) throw chat.error;
    const parts = chat.lastMessage!.parts;
    const calls = parts.filter((part) => part.type === "dynamic-tool");
    const named = (state: string) =>
      calls.filter((call) => call.state === state).map((call) => call.toolName);
    const [question] = named("approval-requested");
    return {
      text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
      results: named("output-available"),
      ...(plan !== undefined && { plan }),
      ...(question !== undefined && { question }),
    };
  };
  return {
    send: (text) => seen(chat.sendMessage({ text })),
    approve: async () => {
      for (const part of chat.lastMessage!.parts)
        if (part.type === "dynamic-tool" && part.state === "approval-requested")
          await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
      return seen(chat.sendMessage());
    },
    stop: () => chat.stop(),
  };
}
