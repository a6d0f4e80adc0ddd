import { fileURLToPath } from "node:url";
import { HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { McpServers } from "../servers.ts";

const SCRIPT = fileURLToPath(new URL("../../../test/helpers/mcp/hostile-server.mjs", import.meta.url));
const mcp = new McpServers({
  mcpServers: { crm: { command: process.execPath, args: [SCRIPT, "many"] } },
});
afterAll(() => mcp.close());

const go = { messages: [new HumanMessage("go")] };
const namesOf = (tools: unknown[]): string[] =>
  (tools as { function: { name: string } }[]).map(({ function: { name } }) => name);
const tokens = (value: unknown): number => encode(JSON.stringify(value)).length;

describe("many tools", () => {
  it("cost one small tool until they are found, and are ordinary tools from then on", async () => {
    const model = new ScriptedModel([
      callTool("find_tools", { query: "archive a ticket" }),
      callTool("mcp__crm__archive_ticket", { id: "7" }),
      callTool("find_tools", { query: "weather, please export it" }),
      "done",
    ]);
    const agent = createDeepAgent({ model, mcp, plan: false, interruptOn: {} });
    const { messages } = await agent.invoke(go);
    const [found, archived] = messages.filter(({ type }) => type === "tool") as ToolMessage[];
    expect(found!.text).toContain("mcp__crm__archive_ticket: archive one ticket of the account.");
    expect(archived!.text).toContain('archive_ticket {"id":"7"}');
    const [first, second, third, fourth] = model.requests.map(({ tools }) => namesOf(tools));
    expect(first!.filter((name) => name.includes("mcp__"))).toEqual([]);
    expect(first!.at(-1)).toBe("find_tools");
    // The beginning of each request is the one before it.
    expect(second!.slice(0, first!.length)).toEqual(first);
    expect(second).toContain("mcp__crm__archive_ticket");
    expect(third).toEqual(second);
    expect(fourth!.slice(0, third!.length)).toEqual(third);
    expect(fourth).toContain("mcp__crm__export_weather");
    for (const [at, { tools }] of model.requests.slice(1).entries()) {
      const before = model.requests[at]!.tools;
      expect(tools.slice(0, before.length)).toEqual(before);
    }
  });

  it.each([
    [9, "mcp__crm__create_invoice"],
    [10, "find_tools"],
  ])("are searched from ten on: %i", async (count, name) => {
    const few = new McpServers({
      mcpServers: { crm: { command: process.execPath, args: [SCRIPT, "many", `${count}`] } },
    });
    const model = new ScriptedModel(["done"]);
    await createDeepAgent({ model, mcp: few, plan: false }).invoke(go);
    await few.close();
    expect(namesOf(model.requests[0]!.tools)).toContain(name);
    expect(namesOf(model.requests[0]!.tools).includes("find_tools")).toBe(count === 10);
  });

  it("cost about 140 tokens for 196 definitions", async () => {
    const model = new ScriptedModel(["done"]);
    await createDeepAgent({ model, mcp, plan: false }).invoke(go);
    const all = await mcp.tools();
    expect(all).toHaveLength(196);
    const eager = new ScriptedModel(["done"]);
    const plain = new McpServers({ ...mcp.options, searchAbove: 1_000_000 });
    await createDeepAgent({ model: eager, mcp: plain, plan: false }).invoke(go);
    await plain.close();
    const none = new ScriptedModel(["done"]);
    await createDeepAgent({ model: none, plan: false }).invoke(go);
    const base = tokens(none.requests[0]!.tools);
    expect(tokens(model.requests[0]!.tools) - base).toBeLessThan(140);
    expect(tokens(eager.requests[0]!.tools) - base).toBeGreaterThan(15_000);
    expect(model.requests[0]!.messages[0]!.text).toBe(none.requests[0]!.messages[0]!.text);
  });

  it("are kept with the thread once the model finds them", async () => {
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" } };
    const first = new ScriptedModel([callTool("find_tools", { query: "delete invoices" }), "done"]);
    await createDeepAgent({ model: first, mcp, plan: false, checkpointer }).invoke(go, config);
    const second = new ScriptedModel(["done"]);
    await createDeepAgent({ model: second, mcp, plan: false, checkpointer }).invoke(go, config);
    expect(namesOf(second.requests[0]!.tools)).toEqual(namesOf(first.requests[1]!.tools));
    expect(namesOf(second.requests[0]!.tools)).toContain("mcp__crm__delete_invoice");
  });

  it("give an answer when none fits, and when the model calls a missing tool", async () => {
    const model = new ScriptedModel([
      callTool("find_tools", { query: "zzz" }),
      callTool("mcp__crm__no"),
      "done",
    ]);
    const { messages } = await createDeepAgent({ model, mcp, plan: false }).invoke(go);
    const [none, absent] = messages.filter(({ type }) => type === "tool") as ToolMessage[];
    expect(none!.text).toBe("Nothing fits; try other words.");
    expect(absent!.text).toBe("There is no tool mcp__crm__no now.");
  });
});
