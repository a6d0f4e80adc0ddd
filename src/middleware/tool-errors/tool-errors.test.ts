import { HumanMessage } from "@langchain/core/messages";
import { createAgent, createMiddleware, tool, toolRetryMiddleware, type AnyAgentMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { clarificationMiddleware } from "../clarification/index.ts";
import { filesMiddleware } from "../files/index.ts";
import { sandboxMiddleware } from "../sandbox/index.ts";
import { toolErrors } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };

/** An agent with a tool `fragile`, in a script that calls it once. */
function withTool(fragile: () => unknown, middleware: AnyAgentMiddleware[]) {
  return createAgent({
    model: new ScriptedModel([callTool("fragile"), "ok"]),
    tools: [tool(fragile, { name: "fragile", description: "f", schema: z.object({}) })],
    middleware,
  });
}

const each = (): AnyAgentMiddleware[] => [
  filesMiddleware(),
  clarificationMiddleware(),
  sandboxMiddleware({ resultLimit: false }),
  toolErrors(),
];

describe("a tool that throws", () => {
  it("does not end the run, with any of Holdfast's middleware", async () => {
    for (const middleware of each()) {
      const broken = () => {
        throw new Error("broke");
      };
      const { messages } = await withTool(broken, [middleware]).invoke(go);
      expect(messages.at(-1)!.text).toBe("ok");
      expect(messages.at(-2)!.text).toBe("Error: broke");
    }
  });

  it("because its own request was aborted counts as an ordinary failure", async () => {
    for (const middleware of each()) {
      const broken = () => {
        throw new DOMException("This operation was aborted", "AbortError");
      };
      const { messages } = await withTool(broken, [middleware]).invoke(go);
      expect(messages.slice(-2).map((message) => message.text)).toEqual([
        "Error: This operation was aborted",
        "ok",
      ]);
    }
  });

  it("because the run was aborted ends the run, with any kind of error", async () => {
    for (const middleware of each()) {
      const controller = new AbortController();
      let answer: unknown;
      const watch = createMiddleware({
        name: "Watch",
        wrapToolCall: async (request, handler) => {
          answer = "none";
          answer = await handler(request);
          return answer as never;
        },
      });
      const broken = () => {
        controller.abort();
        throw new Error("half done");
      };
      const running = withTool(broken, [watch, middleware]).invoke(go, { signal: controller.signal });
      await expect(running).rejects.toThrow(/abort/i);
      expect(answer).toBe("none");
    }
  });
});

describe("the user's own middleware around tools", () => {
  it("sees the exception of a tool when it stands between two of ours", async () => {
    for (const outer of [toolErrors(), filesMiddleware(), sandboxMiddleware()]) {
      let tries = 0;
      const flaky = () => {
        if (++tries < 3) throw new Error("503");
        return "fine";
      };
      const retry = toolRetryMiddleware({
        maxRetries: 3,
        initialDelayMs: 1,
      }) as unknown as AnyAgentMiddleware;
      const { messages } = await withTool(flaky, [outer, retry, clarificationMiddleware()]).invoke(go);
      expect(messages.at(-2)!.text).toBe("fine");
      expect(tries).toBe(3);
    }
  });

  it("may try again around ours without making an error fatal", async () => {
    const twice = createMiddleware({
      name: "Twice",
      wrapToolCall: async (request, handler) => {
        await handler(request);
        return handler(request);
      },
    });
    const broken = () => {
      throw new Error("broke");
    };
    const { messages } = await withTool(broken, [twice, filesMiddleware(), clarificationMiddleware()]).invoke(
      go,
    );
    expect(messages.at(-2)!.text).toBe("Error: broke");
  });
});
