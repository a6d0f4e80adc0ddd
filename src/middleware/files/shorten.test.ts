import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { filesMiddleware } from "./index.ts";

const LINES = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };

/** What an agent's model and state have after one call of a tool that returns this. */
async function after(result: (id: string) => unknown) {
  const fetch = tool(
    async (_args, runtime) => result((runtime as unknown as { toolCallId: string }).toolCallId),
    { name: "fetch", description: "fetch", schema: z.object({}) },
  );
  const model = new ScriptedModel([callTool("fetch"), "ok"]);
  const agent = createAgent({ model, tools: [fetch], middleware: [filesMiddleware({ resultLimit: 600 })] });
  const { messages, files } = await agent.invoke({ messages: [new HumanMessage("go")] });
  const replies = messages.filter((message) => ToolMessage.isInstance(message));
  expect(replies).toHaveLength(1);
  return { reply: replies[0]!, files: Object.values(files) };
}

it("a tool result that is too large for any file is still shown in part", async () => {
  const { reply, files } = await after(() => "x".repeat(10_000_001));
  expect(files).toEqual([]);
  expect(reply.text).toMatch(
    /^x+\n\[\d+ of 10000001 characters left out\. They are too many to be kept\.\]\nx+$/,
  );
  expect(reply.text.length).toBeLessThan(600);
});

describe("a long tool result made of blocks", () => {
  const blocks = [
    { type: "text", text: LINES },
    IMAGE,
    { type: "text", text: LINES },
  ] as ToolMessage["content"];
  const message = (id: string, content = blocks): ToolMessage =>
    new ToolMessage({ content, tool_call_id: id, name: "fetch", artifact: { raw: 1 } });

  it("moves its texts to a file and keeps its other blocks", async () => {
    const { reply, files } = await after((id) => message(id));
    expect(files).toEqual([`${LINES}\n${LINES}`]);
    expect(reply.content).toEqual([
      {
        type: "text",
        text: expect.stringMatching(/^line 0\n[^]* characters left out\.[^]*line 59$/) as string,
      },
      IMAGE,
    ]);
    expect(reply.text.length).toBeLessThan(600);
    expect(reply.artifact).toEqual({ raw: 1 });
  });

  it("is counted as a whole", async () => {
    const half = LINES.slice(0, 400);
    const many = await after((id) =>
      message(
        id,
        [half, half].map((text) => ({ type: "text", text })),
      ),
    );
    expect(many.files).toEqual([`${half}\n${half}`]);
    const one = await after((id) => message(id, [{ type: "text", text: half }, IMAGE]));
    expect(one.files).toEqual([]);
    expect(one.reply.content).toEqual([{ type: "text", text: half }, IMAGE]);
  });

  it("moves to a file from every form of command, and the command keeps its form", async () => {
    type Update = Record<string, unknown> | [string, unknown][];
    const forms: ((reply: ToolMessage) => Update)[] = [
      (reply) => ({ messages: [reply], files: { "/kept.md": { base: null, content: "kept" } } }),
      (reply) => ({ messages: reply, files: { "/kept.md": { base: null, content: "kept" } } }),
      (reply) => [
        ["files", { "/kept.md": { base: null, content: "kept" } }],
        ["messages", [reply]],
      ],
    ];
    for (const form of forms) {
      const { reply, files } = await after((id) => new Command({ update: form(message(id)) }));
      expect(files).toEqual(["kept", `${LINES}\n${LINES}`]);
      expect(reply.text).toContain("characters left out");
      expect(reply.content).toContainEqual(IMAGE);
    }
  });
});
