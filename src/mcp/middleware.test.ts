import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../deep/index.ts";
import { makeLeadAgent } from "../lead/index.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { mcpMiddleware, McpServers } from "./index.ts";

const PACKAGES = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol");
const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
const resultsOf = ({ messages }: { messages: { type: string }[] }): ToolMessage[] =>
  messages.filter(({ type }) => type === "tool") as ToolMessage[];

describe("public servers", () => {
  let folder: string;
  let mcp: McpServers;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
    mkdirSync(join(folder, "lead"));
    writeFileSync(join(folder, "long.txt"), `${"a line of a long file\n".repeat(3000)}the end`);
    const node = (name: string, ...args: string[]) => ({
      command: process.execPath,
      args: [join(PACKAGES, name, "dist/index.js"), ...args],
    });
    mcp = new McpServers({
      mcpServers: { every: node("server-everything", "stdio"), files: node("server-filesystem", folder) },
      searchAbove: 100_000,
      ask: "writes",
    });
  });

  afterAll(async () => {
    await mcp.close();
    rmSync(folder, { recursive: true });
  });

  it("give an agent their tools, with images and structured results", async () => {
    const model = new ScriptedModel([
      [callTool("mcp__every__get-sum", { a: 2, b: 3 }), callTool("mcp__every__get-tiny-image")],
      callTool("mcp__every__get-structured-content", { location: "Chicago" }),
      "done",
    ]);
    const agent = createDeepAgent({ model, mcp, checkpointer: new MemorySaver() });
    const [sum, image, structured] = resultsOf(await agent.invoke(go, config));
    expect(sum!.text).toContain("The sum of 2 and 3 is 5.");
    expect(image!.content).toContainEqual(expect.objectContaining({ type: "image_url" }));
    expect(structured!.text).toContain('"temperature"');
    const sent = model.requests[1]!.messages;
    expect(sent.map(({ type }) => type)).toEqual(["system", "human", "ai", "tool", "tool", "human"]);
    expect(JSON.stringify(sent.at(-1)!.content)).toContain("data:image/png;base64,");
  });

  it("have long results saved to a file, as any tool", async () => {
    const path = join(folder, "long.txt");
    const model = new ScriptedModel([callTool("mcp__files__read_text_file", { path }), "done"]);
    const agent = createDeepAgent({ model, mcp, plan: false, checkpointer: new MemorySaver() });
    const state = await agent.invoke(go, config);
    const [result] = resultsOf(state);
    expect(result!.text.length).toBeLessThan(12_000);
    const [saved] = Object.values((state as unknown as { files: Record<string, string> }).files);
    expect(saved).toContain("the end");
  });

  it("wait for consent with what writes, and not with what says that it reads", async () => {
    const path = join(folder, "new.txt");
    const model = new ScriptedModel([
      callTool("mcp__files__list_directory", { path: folder }),
      callTool("mcp__files__write_file", { path, content: "written" }),
      "done",
    ]);
    const agent = createDeepAgent({ model, mcp, plan: false, checkpointer: new MemorySaver() });
    const stopped = (await agent.invoke(go, config)) as { __interrupt__?: { value: unknown }[] };
    expect(stopped.__interrupt__?.[0]?.value).toMatchObject({
      type: "consent",
      name: "mcp__files__write_file",
      args: { path, content: "written" },
    });
    const edited = { type: "edit", args: { path, content: "written otherwise" } };
    await agent.invoke(new Command({ resume: edited }), config);
    expect(readFileSync(path, "utf8")).toBe("written otherwise");
  });

  it("are there for sub-agents that name no tools of their own", async () => {
    const model = new ScriptedModel([
      [
        callTool("task", { description: "add", subagent_type: "general-purpose" }),
        callTool("task", { description: "look", subagent_type: "poor" }),
      ],
      "nothing",
      "nothing",
      "done",
    ]);
    const own = tool(() => "", { name: "own", description: "", schema: z.object({}) });
    const poor = { name: "poor", description: "has little", tools: [own] };
    const agent = createDeepAgent({
      model,
      mcp,
      plan: false,
      subagents: [poor],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(go, config);
    const offered = model.requests.map(({ tools }) => JSON.stringify(tools).includes("mcp__every__echo"));
    expect(offered.filter(Boolean)).toHaveLength(3);
  });

  it("are there for sub-agents as their descriptions say", async () => {
    const roles = {
      without: {},
      asked: { tools: [], mcp: true },
      server: { mcp: { only: ["every"] } },
      tool: { mcp: { only: ["mcp__every__echo"] } },
      other: { mcp: { only: ["mcp__every__add", "elsewhere"] } },
      fork: { fork: true },
      reader: undefined,
    } as const;
    const equipped = ["asked", "server", "tool", "fork"];
    for (const [name, role] of Object.entries(roles)) {
      const task = callTool("task", { description: "look", subagent_type: name });
      const model = new ScriptedModel([task, "nothing", "done"]);
      const subagents = role ? [{ name, description: "looks", ...role }] : [];
      await createDeepAgent({ model, mcp, plan: false, subagents }).invoke(go);
      const offered = JSON.stringify(model.requests[1]!.tools).includes("mcp__every__echo");
      expect([name, offered]).toEqual([name, equipped.includes(name)]);
    }
  });

  it("are there for lead agents, which share them", async () => {
    const model = new ScriptedModel([callTool("mcp__every__echo", { message: "hi" }), "done"]);
    const baseDir = join(folder, "lead");
    const agent = makeLeadAgent(config, {
      model,
      mcp,
      baseDir,
      title: { timeout: 1 },
      checkpointer: new MemorySaver(),
    });
    const [echo] = resultsOf(await agent.invoke(go, config));
    expect(echo!.text).toContain("Echo: hi");
  });

  it("are there for any agent of LangChain's", async () => {
    const model = new ScriptedModel([callTool("mcp__every__echo", { message: "hi" }), "done"]);
    const noop = tool(() => "", { name: "noop", description: "", schema: z.object({}) });
    const agent = createAgent({ model, tools: [noop], middleware: [mcpMiddleware(mcp)] });
    const [echo] = resultsOf(await agent.invoke(go));
    expect(echo!.text).toContain("Echo: hi");
  });
});

it("servers that have no tools cost an agent nothing: no token, no graph step", async () => {
  const request = async (mcp?: McpServers) => {
    const model = new ScriptedModel([callTool("ls"), "done"]);
    const checkpointer = new MemorySaver();
    await createDeepAgent({ model, checkpointer, mcp }).invoke(go, config);
    const steps = Object.keys(checkpointer.storage["t"]![""]!).length;
    return { tools: model.requests[1]!.tools, system: model.requests[1]!.messages[0]!.text, steps };
  };
  expect(await request(new McpServers({ mcpServers: {} }))).toEqual(await request());
});
