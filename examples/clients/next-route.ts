// A route of Next.js for `useChat`, as in `app/api/chat/route.ts`. The thread keeps what was said before, so that only
// the new message goes to the agent, or the answers to its questions.
import { toBaseMessages, toUIMessageStream } from "@ai-sdk/langchain";
import { Command } from "@langchain/langgraph";
import { createUIMessageStreamResponse, type UIMessage } from "ai";
import { agent } from "./tide.ts";

export async function POST(request: Request): Promise<Response> {
  const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] };
  const last = messages.at(-1)!;
  const decisions = last.parts.flatMap((part) =>
    part.type === "dynamic-tool" && part.state === "approval-responded"
      ? { type: part.approval.approved ? "approve" : "reject" }
      : [],
  );
  const input =
    last.role === "user"
      ? { messages: await toBaseMessages([last]) }
      : new Command({ resume: { decisions } });
  const stream = await agent.stream(input, {
    streamMode: ["values", "messages", "custom"],
    configurable: { thread_id: id },
    // `stop()` of `useChat` closes the request.
    signal: request.signal,
  });
  return createUIMessageStreamResponse({ stream: toUIMessageStream(stream) });
}
