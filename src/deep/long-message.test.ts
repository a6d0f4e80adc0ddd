import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

const LINES = Array.from({ length: 12_000 }, (_, at) => `line ${at} ${"x".repeat(42)}`);
const TEXT = LINES.join("\n");

it("requests show the head and tail of a long message, and a file keeps all of it", async () => {
  const path = "/.history/conversation.md";
  const model = new ScriptedModel([
    callTool("read_file", { file_path: path, offset: 6001, limit: 1 }),
    "Seen.",
  ]);
  const agent = createDeepAgent({ model });
  const { messages } = await agent.invoke({ messages: [new HumanMessage(TEXT)] });
  expect(TEXT.length).toBeGreaterThan(600_000);
  const sent = model.requests.map((request) => request.messages.find(({ type }) => type === "human")!.text);
  expect(sent[0]!.length).toBeLessThan(30_000);
  expect(sent[0]!.startsWith("line 0 ")).toBe(true);
  expect(sent[0]!.endsWith(LINES.at(-1)!)).toBe(true);
  expect(sent[0]).toContain(`The full text is in "${path}" from line 2 on.`);
  expect(sent[1]).toBe(sent[0]);
  expect(messages[0]!.text).toBe(TEXT);
  expect(messages.find((message) => ToolMessage.isInstance(message))?.text).toContain("line 6000 ");
});
