import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { afterAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";

const baseDir = mkdtempSync(join(tmpdir(), "holdfast-empty-"));
afterAll(() => rmSync(baseDir, { recursive: true }));
const go = { messages: [new HumanMessage("go")] };

type Run = (steps: Step[]) => Promise<{ model: ScriptedModel; texts: string[]; steps: number }>;

/** Each harness, with and without a plan. */
const HARNESSES: [string, Run][] = [
  ["a deep agent", (steps) => run(steps, (model, saver) => createDeepAgent({ model, checkpointer: saver }))],
  [
    "a deep agent without a plan",
    (steps) => run(steps, (model, saver) => createDeepAgent({ model, checkpointer: saver, plan: false })),
  ],
  ["a lead agent", (steps) => run(steps, lead(false))],
  ["a lead agent in plan mode", (steps) => run(steps, lead(true))],
];

function lead(is_plan_mode: boolean) {
  return (model: ScriptedModel, checkpointer: MemorySaver) =>
    makeLeadAgent({ configurable: { is_plan_mode } }, { model, checkpointer, baseDir });
}

async function run(
  steps: Step[],
  make: (model: ScriptedModel, saver: MemorySaver) => { invoke: (...args: never[]) => Promise<unknown> },
): ReturnType<Run> {
  const model = new ScriptedModel(steps);
  const saver = new MemorySaver();
  const config = { configurable: { thread_id: "t" } };
  const { messages } = (await make(model, saver).invoke(go as never, config as never)) as {
    messages: AIMessage[];
  };
  const texts = messages.map((message) => message.text);
  return { model, texts, steps: Object.keys(saver.storage["t"]![""]!).length };
}

describe.each(HARNESSES)("the empty answer of %s", (_name, answered) => {
  it("is requested again once in the same graph step, and is not kept", async () => {
    const plain = await answered([callTool("ls"), "done"]);
    const empty = await answered([callTool("ls"), "", "done"]);
    expect(empty.texts).toEqual(plain.texts);
    expect(empty.steps).toBe(plain.steps);
    const last = empty.model.requests.at(-1)!.messages;
    expect(last.at(-1)!.name).toBe("empty_answer_reminder");
    expect(last.slice(0, -1).map((message) => message.text)).toEqual(
      empty.model.requests.at(-2)!.messages.map((message) => message.text),
    );
  });

  it("is accepted the second time, and requested again in a later turn", async () => {
    const { model, texts } = await answered(["", callTool("ls"), "", ""]);
    expect(model.requests).toHaveLength(4);
    expect(texts.at(-1)).toBe("");
  });

  it("is not requested again after a stop, a refusal or other content", async () => {
    const others: AIMessage[] = [
      new AIMessage({ content: "", response_metadata: { finish_reason: "length" } }),
      new AIMessage({ content: "", response_metadata: { stop_reason: "refusal" } }),
      new AIMessage({ content: "", additional_kwargs: { refusal: "I will not." } }),
      new AIMessage({ content: [{ type: "image_url", image_url: { url: "data:," } }] }),
    ];
    for (const other of others) expect((await answered([other])).model.requests).toHaveLength(1);
    const thought = new AIMessage({ content: [{ type: "thinking", thinking: "hm", signature: "s" }] });
    expect((await answered([thought, "done"])).texts.at(-1)).toBe("done");
  });
});

describe("an empty answer", () => {
  it("is requested again once in a sub-agent", async () => {
    const helper = new ScriptedModel(["", "Found it."]);
    const model = new ScriptedModel([
      callTool("task", { description: "look", subagent_type: "scout" }),
      "ok",
    ]);
    const subagents = [{ name: "scout", description: "looks", model: helper }];
    const { messages } = await createDeepAgent({ model, subagents }).invoke(go);
    expect(messages.find((message) => ToolMessage.isInstance(message))?.text).toBe("Found it.");
  });

  it("triggers only one of the two reminders while items are open", async () => {
    const plan = callTool("write_todos", { todos: ["a", "b"] });
    const model = new ScriptedModel([plan, "", "", "", ""]);
    await createDeepAgent({ model }).invoke(go);
    expect(model.requests.map(({ messages }) => messages.at(-1)!.name)).toEqual([
      undefined,
      "write_todos",
      "empty_answer_reminder",
      "todo_completion_reminder",
      "todo_completion_reminder",
    ]);
  });

  it("is asked about once if the exit reminder has a name of its own", async () => {
    const plan = { reminders: { exit: { name: "keep_going" } } };
    const make = (model: ScriptedModel, checkpointer: MemorySaver) =>
      createDeepAgent({ model, checkpointer, plan });
    const { model } = await run([callTool("write_todos", { todos: ["A", "B"] }), "Half.", "", "All."], make);
    const names = model.requests.at(-1)!.messages.map((message) => message.name);
    expect(names).toContain("keep_going");
    expect(names).not.toContain("empty_answer_reminder");
  });

  it("does not complete the last item: the answer that follows it does", async () => {
    const plan = callTool("write_todos", { todos: ["a"] });
    const model = new ScriptedModel([plan, callTool("ls"), "", "done"]);
    const { todos, messages } = await createDeepAgent({ model, plan: { verify: false } }).invoke(go);
    expect(todos.map(({ status }) => status)).toEqual(["completed"]);
    expect(messages.at(-1)!.text).toBe("done");
  });
});

describe("an answer that should have been a call", () => {
  const sent = async (steps: Step[], more: object = {}) => {
    const model = new ScriptedModel(steps);
    const { messages } = await createDeepAgent({ model, ...more }).invoke(go);
    return { model, messages, names: model.requests.map(({ messages: sentOut }) => sentOut.at(-1)!.name) };
  };

  it.each([
    "Let me start by reading SPEC.md.",
    "Sure! I'll look at the files first:",
    '<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
    '```json\n{"name": "read_file", "arguments": {"file_path": "/a"}}\n```',
  ])("is asked for once more: %s", async (text) => {
    for (const more of [{}, { plan: false }]) {
      const { messages, names } = await sent([text, callTool("ls"), "It is empty."], more);
      expect(names).toEqual([undefined, "empty_answer_reminder", expect.anything()]);
      expect(messages.map((message) => message.text)).not.toContain(text);
      expect(messages.at(-1)!.text).toBe("It is empty.");
    }
    const { messages } = await sent([text, text]);
    expect(messages.at(-1)!.text).toBe(text);
  });

  it.each([
    "Hello! Let me know if you need anything.",
    "I will be there.",
    "The tool call format is JSON.",
    "I can read SPEC.md. Shall I?",
    `${"Long. ".repeat(120)}Let me read it.`,
  ])("is none: %s", async (text) => {
    expect((await sent([text])).names).toEqual([undefined]);
  });

  it("is none once something was done", async () => {
    expect((await sent([callTool("ls"), "Next, I'll read SPEC.md."])).names).toHaveLength(2);
  });
});
