import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver, ReducedValue, StateSchema } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../deep/index.ts";
import { makeLeadAgent } from "../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";

const go = { messages: [new HumanMessage("go")] };
const delegate = (type = "scout") => callTool("task", { description: "look", subagent_type: type });
const results = (messages: BaseMessage[], name = "task") =>
  messages
    .filter((message) => ToolMessage.isInstance(message) && message.name === name)
    .map(({ text }) => text);

describe("permissions of a sub-agent", () => {
  const write = (path: string) => callTool("write_file", { file_path: path, content: "x" });

  it("come on top of its parent's: what either denies is denied", async () => {
    const helper = new ScriptedModel([[write("/own/a"), write("/theirs/a"), write("/free/a")], "Done."]);
    const agent = createDeepAgent({
      model: new ScriptedModel([delegate(), "ok"]),
      permissions: [{ effect: "deny", operations: ["write"], paths: "/theirs/**" }],
      subagents: [
        {
          name: "scout",
          description: "looks",
          model: helper,
          permissions: [
            { effect: "allow", paths: "/theirs/**" },
            { effect: "deny", operations: ["write"], paths: "/own/**" },
          ],
        },
      ],
    });
    const { files } = await agent.invoke(go);
    expect(Object.keys(files)).toEqual(["/free/a"]);
    const said = results(helper.requests[1]!.messages, "write_file");
    expect(said.filter((text) => text.includes("not allowed"))).toHaveLength(2);
  });

  it("hold for the sub-agents of a lead agent", async () => {
    const model = new ScriptedModel([
      delegate(),
      callTool("read_file", { file_path: "/etc/x" }),
      "No.",
      "ok",
    ]);
    const agent = makeLeadAgent(
      { configurable: { subagent_enabled: true } },
      {
        model,
        subagents: [
          { name: "scout", description: "looks", permissions: [{ effect: "deny", paths: "/etc/**" }] },
        ],
      },
    );
    await agent.invoke(go);
    expect(results(model.requests[2]!.messages, "read_file")[0]).toContain("not allowed");
  });
});

it("a sub-agent asks for consent to its own tools, and its parent does not", async () => {
  const write = callTool("write_file", { file_path: "/a", content: "x" });
  const agent = createDeepAgent({
    model: new ScriptedModel([callTool("write_file", { file_path: "/b", content: "y" }), delegate(), "ok"]),
    subagents: [
      {
        name: "scout",
        description: "looks",
        model: new ScriptedModel([write, "Done."]),
        interruptOn: { write_file: true },
      },
    ],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "t" } };
  const stopped = await agent.invoke(go, config);
  expect(stopped).toMatchObject({
    __interrupt__: [{ value: { name: "write_file", args: { file_path: "/a" } } }],
  });
  const { files } = await agent.invoke(new Command({ resume: { type: "approve" } }), config);
  expect(files).toEqual({ "/a": "x", "/b": "y" });
});

describe("a time limit", () => {
  const never = tool(() => new Promise<string>(() => {}), {
    name: "hang",
    description: "hangs",
    schema: z.object({}),
  });
  const run = async (steps: Step[]) => {
    const model = new ScriptedModel([delegate(), "ok"]);
    const agent = createDeepAgent({
      model,
      tools: [never],
      subagents: [{ name: "scout", description: "looks", model: new ScriptedModel(steps), timeLimit: 400 }],
    });
    const { files } = await agent.invoke(go);
    return { files, report: results(model.requests[1]!.messages)[0]! };
  };

  it("stops a sub-agent that hangs, and returns its findings and files", async () => {
    const { report, files } = await run([
      callTool("write_file", { file_path: "/a", content: "x" }),
      { ...callTool("hang") },
    ]);
    expect(report).toContain("write_file: ");
    expect(report).toContain("[In part: its time limit of 0.4 s was reached.]");
    expect(files).toEqual({ "/a": "x" });
  });

  it("holds for a runnable that listens to nothing", async () => {
    const model = new ScriptedModel([delegate(), "ok"]);
    const agent = createDeepAgent({
      model,
      subagents: [
        {
          name: "scout",
          description: "looks",
          timeLimit: 20,
          runnable: { invoke: () => new Promise<object>(() => {}) },
        },
      ],
    });
    await agent.invoke(go);
    expect(results(model.requests[1]!.messages)[0]).toContain("its time limit of 0.02 s was reached");
  });

  it("does not affect a sub-agent that ends in time", async () => {
    expect((await run(["Found."])).report).toBe("Found.");
  });
});

describe("state fields", () => {
  const sources = new ReducedValue(z.array(z.string()).default([]), {
    reducer: (list: string[], more: string[]) => [...list, ...more],
  });
  const stateSchema = new StateSchema({ sources });
  const add = tool(
    ({ source }, runtime: { toolCallId?: string }) =>
      new Command({
        update: {
          sources: [source],
          messages: [new ToolMessage({ content: "added", tool_call_id: runtime.toolCallId! })],
        },
      }),
    { name: "add", description: "adds", schema: z.object({ source: z.string() }) },
  );
  const helper = (name: string) => ({
    name,
    description: "looks",
    tools: [add],
    stateSchema,
    model: new ScriptedModel([callTool("add", { source: name }), "Done."]),
  });

  it("are given to a sub-agent that declares them, and come back through the reducer", async () => {
    const agent = createDeepAgent({
      model: new ScriptedModel([[delegate("a"), delegate("b")], "ok"]),
      stateSchema,
      subagents: [helper("a"), helper("b")],
    });
    const state = await agent.invoke({ ...go, sources: ["first"] } as never);
    expect((state as unknown as { sources: string[] }).sources.toSorted()).toEqual(["a", "b", "first"]);
  });

  it("are not passed to a sub-agent that does not declare them", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: new ScriptedModel([delegate(), "ok"]),
      stateSchema,
      subagents: [
        {
          name: "scout",
          description: "looks",
          runnable: { invoke: async (input: object) => (seen.push(Object.keys(input)), input) },
        },
      ],
    });
    await agent.invoke({ ...go, sources: ["first"] } as never);
    expect(seen).toEqual([["messages", "files"]]);
  });

  it("need a reducer", () => {
    const plain = z.object({ count: z.number().default(0) });
    expect(() =>
      createDeepAgent({
        model: new ScriptedModel([]),
        stateSchema: plain,
        subagents: [{ name: "scout", description: "looks", stateSchema: plain }],
      }),
    ).toThrow('shares the field "count", which has no reducer');
  });
});

describe("a fork", () => {
  const wire = (messages: BaseMessage[]) => messages.map((message) => [message.getType(), message.content]);

  it("starts with its caller's conversation and the beginning of its caller's request", async () => {
    const model = new ScriptedModel([
      callTool("ls", { path: "/" }),
      delegate(),
      delegate("scout"),
      "Forked.",
      "ok",
    ]);
    const agent = createDeepAgent({
      model,
      systemPrompt: "Be brief.",
      subagents: [{ name: "scout", description: "looks", fork: true }],
    });
    await agent.invoke(go);
    const [, before, first, second] = model.requests;
    expect(first!.tools).toEqual(before!.tools);
    expect(wire(first!.messages).slice(0, before!.messages.length)).toEqual(wire(before!.messages));
    expect(first!.messages.at(-1)!.text).toBe("look");
    expect(results(second!.messages)[0]).toContain("do this work here");
    expect(results(model.requests.at(-1)!.messages)).toEqual(["Forked."]);
  });

  it("is charged with its own work alone", async () => {
    const { readReport } = await import("./report.ts");
    const given = { messages: [new HumanMessage({ id: "1", content: "go" })] };
    const scout = createAgent({ model: new ScriptedModel(["Seen."]), tools: [] });
    const { spent } = readReport(await scout.invoke(given), given);
    expect(spent.modelCalls).toBe(1);
  });
});
