import { setImmediate as macrotask } from "node:timers/promises";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, tool } from "langchain";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startAddressServer, type AddressServer } from "../../test/helpers/mcp/address-server.ts";
import { orderedCallsMiddleware } from "../middleware/ordered-calls/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { mcpMiddleware, McpServers } from "./index.ts";

const config = { configurable: { thread_id: "t" } };
const open: { server: AddressServer; mcp: McpServers }[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const { server, mcp } of open.splice(0)) {
    await mcp.close();
    server.stop();
  }
});

async function serversAt(before: (method: string) => Promise<void> | void): Promise<McpServers> {
  const server = await startAddressServer({ before });
  const headers = { authorization: "Bearer access-1" };
  const mcp = new McpServers({ mcpServers: { a: { url: server.url, headers } }, onNote: () => {} });
  open.push({ server, mcp });
  return mcp;
}

/** A thread that was stopped before the calls of its message, and goes on with servers that are not connected yet. */
async function goOn(calls: string[], log: string[], before: (method: string) => Promise<void> | void) {
  const checkpointer = new MemorySaver();
  const later = tool(() => String(log.push("later")), {
    name: "later",
    description: "l",
    schema: z.object({}),
  });
  const build = (mcp: McpServers, step: Step) =>
    createAgent({
      model: new ScriptedModel([step]),
      tools: [later],
      middleware: [mcpMiddleware(mcp), orderedCallsMiddleware()],
      checkpointer,
    });
  const step = calls.map((name, at) => callTool(name, {}, `c${at}`));
  const first = build(await serversAt(() => {}), step);
  const go = { messages: [new HumanMessage("go")] };
  await first.graph.invoke(go as never, { ...config, interruptBefore: ["tools"] as never });
  const second = build(await serversAt(before), "done");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return second.invoke(null as never, config);
}

describe("a call of an MCP tool whose server connects slowly", () => {
  it("is waited for by the later calls of its message", async () => {
    const log: string[] = [];
    await goOn(["mcp__a__hello", "later"], log, async (method) => {
      if (method === "initialize") {
        await vi.advanceTimersByTimeAsync(1000);
        for (let at = 0; at < 50; at += 1) await macrotask();
      }
      log.push(method);
    });
    expect(log).toEqual(["server/discover", "initialize", "tools/list", "tools/call", "later"]);
  });

  it("blocks no later call when other middleware answers it", async () => {
    const log: string[] = [];
    const later = tool(() => String(log.push("later")), {
      name: "later",
      description: "l",
      schema: z.object({}),
    });
    const cache = createMiddleware({
      name: "Cache",
      wrapToolCall: (request, handler) => {
        const { name, id = "" } = request.toolCall;
        return name.startsWith("mcp__")
          ? new ToolMessage({ content: "cached", name, tool_call_id: id })
          : handler(request);
      },
    });
    const agent = createAgent({
      model: new ScriptedModel([[callTool("mcp__a__hello"), callTool("later")], "done"]),
      tools: [later],
      middleware: [mcpMiddleware(await serversAt(() => {})), cache, orderedCallsMiddleware()],
    });
    const { messages } = await agent.invoke({ messages: "go" });
    expect(messages.at(-1)!.text).toBe("done");
    expect(log).toEqual(["later"]);
  });

  it("blocks no later call when the server has no such tool", async () => {
    const log: string[] = [];
    const { messages } = await goOn(["mcp__a__gone", "later"], log, (method) => void log.push(method));
    expect(log).toEqual(["server/discover", "initialize", "tools/list", "later"]);
    expect(messages.find(({ name }) => name === "mcp__a__gone")!.text).toContain("mcp__a__gone");
  });
});
