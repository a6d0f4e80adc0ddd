import { AsyncResource } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { getContextVariable, setContextVariable } from "@langchain/core/context";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { getConfig, getCurrentTaskInput, MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { lightLoop } from "../../middleware/light-loop/index.ts";
import { callTool, ScriptedModel } from "../../testing/scripted-model.ts";

describe("a node with work around it does what LangChain's does:", () => {
  it("code in the node finds the same configuration, state and tracing tree", async () => {
    expect(await found(true)).toEqual(await found(false));
  });

  it("the node finds the context variables of its own run, and none of the first run", async () => {
    const seen: unknown[] = [];
    const watch = createMiddleware({
      name: "Watch",
      beforeModel: () => void seen.push(getContextVariable("who")),
    });
    const model = new ScriptedModel(["Finished."], { loop: true });
    const agent = lightLoop(createAgent({ model, tools: [], middleware: [watch] }));
    const run = (who: string | undefined): Promise<unknown> =>
      new AsyncResource("caller").runInAsyncScope(async () => {
        if (who !== undefined) setContextVariable("who", who);
        await agent.invoke({ messages: "Go." });
      });
    await run("alice");
    await run(undefined);
    expect(seen).toEqual(["alice", undefined]);
  });

  it.each([new Error("enough"), "enough", undefined])(
    "a node stopped with %s does not wait for a running tool, and says the same",
    async (reason) => {
      expect(await stopped(reason, true)).toEqual(await stopped(reason, false));
    },
  );

  it("a tool that was running at the stop writes nothing", async () => {
    const { agent, config, stop, end } = slowAgent(true);
    const run = agent.invoke({ messages: "Go." }, config).catch(() => undefined);
    await stop(undefined);
    await run;
    end();
    await sleep(0);
    const { values } = await agent.graph.getState(config);
    expect((values as { messages: unknown[] }).messages).toHaveLength(2);
  });
});

/** What is seen inside of the model's node and of a tool. */
async function found(isLight: boolean): Promise<object[]> {
  const seen: object[] = [];
  const look = (): void => {
    const { metadata, tags, configurable = {}, runName, runId, recursionLimit } = getConfig();
    const tree = AsyncLocalStorageProviderSingleton.getInstance().getStore() as unknown as {
      tracingEnabled: boolean;
      createChild: (fields: object) => { tracingEnabled: boolean; parent_run_id?: string };
    };
    seen.push({
      // What differs from run to run, and what tells a single call from one that was sent.
      metadata: {
        ...metadata,
        langgraph_checkpoint_ns: "",
        checkpoint_ns: "",
        langgraph_triggers: [],
        langgraph_path: [],
      },
      tags,
      configurable: Object.keys(configurable).toSorted(),
      others: { runName, runId, recursionLimit },
      state: Object.keys(getCurrentTaskInput<object>()).filter((key) => key !== "lg_tool_call"),
      tracing: [tree.tracingEnabled, tree.createChild({ name: "inside" }).tracingEnabled],
    });
  };
  const work = tool(
    () => {
      look();
      return "done";
    },
    { name: "work", description: "Works.", schema: z.object({}) },
  );
  const watch = createMiddleware({
    name: "Watch",
    wrapModelCall: (request, handler) => {
      look();
      return handler(request);
    },
    afterModel: () => {
      look();
    },
  });
  const agent = createAgent({
    model: new ScriptedModel([callTool("work", {}), "Finished."]),
    tools: [work],
    middleware: [watch],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "t", model: "small" }, metadata: { a: 1 }, tags: ["b"] };
  await (isLight ? lightLoop(agent) : agent).invoke({ messages: "Go." }, config);
  return seen;
}

/** An agent whose tool does not heed its signal. */
function slowAgent(isLight: boolean) {
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = tool(
    async () => {
      begin();
      await ended;
      return "late";
    },
    { name: "work", description: "Works.", schema: z.object({}) },
  );
  const made = createAgent({
    model: new ScriptedModel([callTool("work", {}), "Finished."]),
    tools: [work],
    checkpointer: new MemorySaver(),
  });
  const controller = new AbortController();
  const config = { configurable: { thread_id: "t" }, signal: controller.signal };
  const stop = async (reason: unknown): Promise<void> => {
    await begun;
    controller.abort(reason);
  };
  return { agent: isLight ? lightLoop(made) : made, config, stop, end: () => end() };
}

async function stopped(reason: unknown, isLight: boolean): Promise<unknown> {
  const { agent, config, stop, end } = slowAgent(isLight);
  const run = agent.invoke({ messages: "Go." }, config).catch((error: unknown) => error);
  await stop(reason);
  const reached = await run;
  end();
  // Where the reason is text, LangChain rejects with it or with an error around it, whichever comes first.
  const { name, message } = reached instanceof Error ? reached : new Error(reached as string);
  return { name, message };
}
