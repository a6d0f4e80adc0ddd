import { LLMock } from "@copilotkit/aimock";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { stateFiles } from "../../files/backends/state.ts";
import { chooseModel } from "../../models/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const PDF = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.from([0, 0xff, 0xfe])]);
const url = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString("base64")}`;
const FILES = {
  "/logo.png": url("image/png", PNG),
  "/paper.pdf": url("application/pdf", PDF),
  "/data.bin": url("application/octet-stream", Buffer.from([0, 1, 2])),
};
const go = { messages: [new HumanMessage("go")], files: FILES };
const READS = ["/logo.png", "/paper.pdf"].map((file_path) => ({ name: "read_file", args: { file_path } }));

/** What each provider's wire format has for an image and a document. */
const OPENAI = [
  { type: "image_url", image_url: { url: FILES["/logo.png"] } },
  { type: "file", file: { file_data: FILES["/paper.pdf"], filename: "paper.pdf" } },
];
const source = (media_type: string, bytes: Buffer) => ({
  type: "base64",
  media_type,
  data: bytes.toString("base64"),
});
const ANTHROPIC = [
  { type: "image", source: source("image/png", PNG) },
  { type: "document", source: source("application/pdf", PDF) },
];

describe.each([
  ["openai:gpt-5.1", "OPENAI_BASE_URL", "/v1", "tool", OPENAI],
  ["anthropic:claude-sonnet-5", "ANTHROPIC_BASE_URL", "", "user", ANTHROPIC],
] as const)("%s", (name, variable, path, resultRole, blocks) => {
  const server = new LLMock({ port: 0, host: "127.0.0.1" });
  const bodies: { messages: { role: string; content: unknown }[] }[] = [];
  beforeAll(async () => {
    const calls = READS.map(({ name: tool, args }) => ({ name: tool, arguments: JSON.stringify(args) }));
    let turn = 0;
    server.on({ toolName: "ls" }, () => (turn++ === 0 ? { toolCalls: calls } : { content: "Seen." }));
    await server.start();
  });
  beforeEach(() => void (bodies.length = 0));
  afterAll(() => server.stop());

  it("gets images and documents in its provider's format, once, after all results", async () => {
    const fetched = globalThis.fetch;
    const env = { OPENAI_API_KEY: "sk-x", ANTHROPIC_API_KEY: "sk-ant-x", [variable]: server.url + path };
    globalThis.fetch = (input, init) => {
      bodies.push(JSON.parse(init?.body as string) as (typeof bodies)[number]);
      return fetched(input, init);
    };
    try {
      const { model } = await chooseModel({ model: name, env, settings: { maxRetries: 0 } });
      const { messages } = await createDeepAgent({ model, plan: false }).invoke(go);
      expect(messages.at(-1)!.text).toBe("Seen.");
      expect(messages.map((message) => message.getType())).toEqual(["human", "ai", "tool", "tool", "ai"]);
    } finally {
      globalThis.fetch = fetched;
    }
    const sent = bodies.at(-1)!.messages;
    const parts = sent.flatMap(({ content }) => (Array.isArray(content) ? (content as object[]) : []));
    const media = parts.filter((part) => "type" in part && blocks.some(({ type }) => type === part.type));
    expect(media).toEqual(blocks.map((block) => expect.objectContaining(block) as object));
    const text = JSON.stringify(sent);
    expect(text).toContain("/logo.png: image/png, 16 bytes.");
    expect(text.indexOf(PNG.toString("base64"))).toBeGreaterThan(
      text.lastIndexOf("/paper.pdf: application/pdf"),
    );
    expect(sent.at(-1)!.role).toBe("user");
    expect(sent.some(({ role }) => role === resultRole)).toBe(true);
  });
});

describe("a file other than text", () => {
  const reads = [...READS, { name: "read_file", args: { file_path: "/data.bin" } }];
  const told = async (options: object) => {
    const model = new ScriptedModel([reads, "ok"]);
    const { messages } = await createDeepAgent({ model, plan: false, ...options }).invoke(go);
    const results = messages.flatMap((message) => (ToolMessage.isInstance(message) ? message : []));
    return { model, results, sent: model.requests.at(-1)!.messages };
  };

  it("is described to models without known support, and stays out of the thread", async () => {
    const { results, sent } = await told({});
    expect(results.map(({ text }) => text)).toEqual([
      "/logo.png: image/png, 16 bytes. You cannot look at it: only text can be read here.",
      "/paper.pdf: application/pdf, 12 bytes. You cannot look at it: only text can be read here.",
      'Error: "/data.bin" is a binary file (3 bytes); only UTF-8 text can be read, searched and edited.',
    ]);
    expect(JSON.stringify(results)).not.toContain(PNG.toString("base64"));
    expect(sent.map((message) => message.getType()).slice(-3)).toEqual(["tool", "tool", "tool"]);
  });

  it("is shown when an option allows it, but not to another model without support", async () => {
    const { results, sent } = await told({ media: ["image"] });
    expect(results[1]!.text).toContain("You cannot look at it");
    expect(sent.at(-1)!.content).toEqual([
      { type: "text", text: "/logo.png:" },
      { type: "image_url", image_url: { url: FILES["/logo.png"] } },
    ]);
    const other = new ScriptedModel(["ok"]);
    await createDeepAgent({ model: other, plan: false }).invoke({
      messages: [new HumanMessage("go"), ...results.slice(0, 1)],
    });
    expect(JSON.stringify(other.requests[0]!.messages.map(({ content }) => content))).not.toContain("base64");
  });

  it("is not shown when it is too large", async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(4_000_000)]);
    const backend = stateFiles({ "/large.png": url("image/png", large) });
    const model = new ScriptedModel([callTool("read_file", { file_path: "/large.png" }), "ok"]);
    const { messages } = await createDeepAgent({ model, backend, media: ["image"], plan: false }).invoke({
      messages: [new HumanMessage("go")],
    });
    const result = messages.find((message) => ToolMessage.isInstance(message))!;
    expect(result.text).toBe(
      "/large.png: image/png, 4000016 bytes. You can look at files of up to 3750000 bytes.",
    );
  });
});
