import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { Command, InMemoryStore, interrupt, MemorySaver } from "@langchain/langgraph";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { createAgent, createMiddleware, todoListMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compositeBackend, storeBackend } from "../files/index.ts";
import { filesMiddleware } from "../middleware/files/index.ts";
import { stateBackend } from "../middleware/files/workspace.ts";
import { isPlanChangeEvent } from "../middleware/plan/events.ts";
import type { PlanOptions } from "../middleware/plan/options.ts";
import { isSubagentEvent } from "../subagents/index.ts";
import { callTool, ScriptedModel, type ModelRequestRecord, type Step } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };
const write = (file_path: string, content: string) => callTool("write_file", { file_path, content });
const read = (file_path: string) => callTool("read_file", { file_path });
const edit = (file_path: string, old_string: string, new_string: string) =>
  callTool("edit_file", { file_path, old_string, new_string });
const task = (description: string, subagent_type = "general-purpose", rest: object = {}) =>
  callTool("task", { description, subagent_type, ...rest });

/** Plays one script for the main agent and one for each sub-agent, told apart by the first user message. */
function cast(scripts: Record<string, Step[]>): ScriptedModel {
  const at = new Map<string, number>();
  return new ScriptedModel(
    [
      (request: ModelRequestRecord): Step => {
        const first = request.messages.find((message) => HumanMessage.isInstance(message))!.text;
        const next = at.get(first) ?? 0;
        at.set(first, next + 1);
        const step = scripts[first]?.[next];
        if (step === undefined) throw new Error(`no step ${next + 1} for "${first}"`);
        return step;
      },
    ],
    { loop: true },
  );
}

function replies(messages: readonly BaseMessage[], name?: string): ToolMessage[] {
  return messages.filter(
    (message): message is ToolMessage =>
      ToolMessage.isInstance(message) && (name === undefined || message.name === name),
  );
}

describe("files", () => {
  it("are seeded in the input, worked on by tools, and come back out", async () => {
    const model = cast({
      go: [
        callTool("ls"),
        callTool("read_file", { file_path: "notes.md" }),
        [edit("/notes.md", "one", "$& two"), write("/src/a.ts", "x\r\n\ty\r\n"), write("/src/b.ts", "z")],
        [callTool("glob", { pattern: "/src/**/*.ts" }), callTool("grep", { pattern: "y", path: "/src" })],
        callTool("delete_file", { file_path: "/src/b.ts" }),
        edit("/src/a.ts", "y", "w"),
        "ok",
      ],
    });
    const agent = createDeepAgent({ model, plan: false });
    const { files, messages } = await agent.invoke({ ...go, files: { "notes.md": "one" } });
    expect(files).toEqual({ "notes.md": "$& two", "/src/a.ts": "x\r\n\tw\r\n" });
    expect(replies(messages).map((reply) => reply.text)).toEqual([
      "/notes.md",
      "     1\tone",
      "Edited /notes.md:\n     1\t$& two",
      "Created /src/a.ts.",
      "Created /src/b.ts.",
      "/src/a.ts\n/src/b.ts",
      "/src/a.ts\n2:\ty",
      "Deleted /src/b.ts.",
      "Edited /src/a.ts:\n     1\tx\n     2\t\tw",
    ]);
  });

  it("take two parallel edits of one file, or refuse the second clearly", async () => {
    const model = cast({
      go: [
        write("/a.md", "one\ntwo\nthree\n"),
        [edit("/a.md", "one", "1"), edit("/a.md", "three", "3")],
        [edit("/a.md", "two", "2"), edit("/a.md", "two", "zwei")],
        "ok",
      ],
    });
    const { files, messages } = await createDeepAgent({ model, plan: false }).invoke(go);
    expect(files).toEqual({ "/a.md": "1\n2\n3\n" });
    expect(replies(messages).map((reply) => reply.status)).toEqual([
      "success",
      "success",
      "success",
      "success",
      "error",
    ]);
    expect(replies(messages).at(-1)!.text).toContain("was not changed");
  });

  it("answer wrong arguments in words, and text for a .pdf name is just a file", async () => {
    const model = cast({
      go: [
        callTool("write_file", { path: "/a" }),
        callTool("edit_file", { file_path: "/none.md", old_string: "a", new_string: "b" }),
        write("/report.pdf", "not really"),
        "ok",
      ],
    });
    const { messages, files } = await createDeepAgent({ model, plan: false }).invoke(go);
    const [first, second] = replies(messages).map((reply) => reply.text);
    expect(first).toContain("file_path is missing; you sent path.");
    expect(second).toContain("/none.md");
    for (const text of [first, second]) expect(text).not.toMatch(/\n\s+at |node_modules/);
    expect(files).toEqual({ "/report.pdf": "not really" });
  });

  it("hold long tool results, and the preview names a file that exists", async () => {
    const long = Array.from({ length: 3000 }, (_, n) => `line ${n}`).join("\n");
    const dump = tool(() => long, { name: "dump", description: "dump", schema: z.object({}) });
    const model = cast({ go: [callTool("dump", {}, "call_9"), "ok"] });
    const { files, messages } = await createDeepAgent({ model, tools: [dump], resultLimit: 4000 }).invoke(go);
    const [reply] = replies(messages, "dump");
    const path = /The full text is in "([^"]+)"/.exec(reply!.text)![1]!;
    expect(files[path]).toBe(long);
    expect(reply!.text).toContain("line 0\n");
    expect(reply!.text).toContain("line 2999");
    expect(reply!.text.length).toBeLessThan(2000);
  });

  it("can live in several places, and permissions hold for all tools and sub-agents", async () => {
    const store = new InMemoryStore();
    const model = cast({
      go: [
        [write("/memories/a.md", "kept"), write("/a.md", "here")],
        task("sub"),
        callTool("read_file", { file_path: "/memories/a.md" }),
        "ok",
      ],
      sub: [[write("/secret/x.md", "no"), write("/memories/b.md", "also kept")], "done"],
    });
    const agent = createDeepAgent({
      model,
      plan: false,
      store,
      backend: (context) =>
        compositeBackend(stateBackend(context), { "/memories/": storeBackend(context.store!, ["memories"]) }),
      permissions: [{ effect: "deny", operations: ["write"], paths: "/secret/**" }],
    });
    const { files, messages } = await agent.invoke(go);
    expect(files).toEqual({ "/a.md": "here" });
    expect(replies(messages).at(-1)!.text).toContain("kept");
    const kept = await store.search(["memories"]);
    expect(kept).toHaveLength(2);
    const denied = model.requests
      .flatMap((request) => replies(request.messages))
      .find((reply) => reply.text.includes("secret"));
    expect(denied?.status).toBe("error");
  });
});

describe("sub-agents", () => {
  it("start with the description alone and bring back a report and files", async () => {
    const model = cast({
      go: [write("/in.md", "data"), task("count the lines of /in.md"), "ok"],
      "count the lines of /in.md": [
        callTool("read_file", { file_path: "/in.md" }),
        [write("/out.md", "1"), callTool("delete_file", { file_path: "/in.md" })],
        "There is one line.",
      ],
    });
    const agent = createDeepAgent({ model, systemPrompt: "You count." });
    const { files, messages } = await agent.invoke(go);
    expect(replies(messages, "task")[0]!.text).toBe("There is one line.");
    expect(files).toEqual({ "/out.md": "1" });
    const childRequest = model.requests.find((request) => request.messages[1]!.text.startsWith("count"))!;
    expect(childRequest.messages).toHaveLength(2);
    expect(childRequest.messages[0]!.text).toContain("You count.");
  });

  it("inherit the parent's tools, or use their own tools, model, settings and format", async () => {
    const shout = tool(({ text }) => text.toUpperCase(), {
      name: "shout",
      description: "shout",
      schema: z.object({ text: z.string() }),
    });
    const whisper = tool(({ text }) => text.toLowerCase(), {
      name: "whisper",
      description: "w",
      schema: z.object({ text: z.string() }),
    });
    // LangChain counts the formats of a process, and names their tools so.
    const format = (tools: readonly unknown[]) =>
      (tools as { function: { name: string } }[]).find(({ function: { name } }) =>
        name.startsWith("extract-"),
      )!;
    const own = new ScriptedModel([
      ({ tools }) => callTool(format(tools).function.name, { verdict: "fine" }),
    ]);
    const model = cast({
      go: [[task("a", "inheriting"), task("b", "own")], task("c", "judge"), "ok"],
      a: [callTool("shout", { text: "hi" }), "A"],
      b: [callTool("whisper", { text: "HI" }), "B"],
    });
    const agent = createDeepAgent({
      model,
      tools: [shout],
      subagents: [
        { name: "inheriting", description: "inherits", prompt: "You inherit." },
        {
          name: "own",
          description: "own tools",
          systemPrompt: "You own.",
          tools: [whisper],
        },
        {
          name: "judge",
          description: "judges",
          prompt: "Judge.",
          model: own,
          plan: false,
          responseFormat: z.object({ verdict: z.string() }) as never,
        },
      ],
    });
    const { messages } = await agent.invoke(go);
    expect(replies(messages, "task").map((reply) => reply.text)).toEqual(["A", "B", '{"verdict":"fine"}']);
    const names = (start: string) =>
      (
        model.requests.find((request) => request.messages[1]!.text === start)!.tools as {
          function: { name: string };
        }[]
      ).map((entry) => entry.function.name);
    expect(names("a")).toContain("shout");
    expect(names("b")).toContain("whisper");
    expect(names("b")).not.toContain("shout");
    expect(names("a")).not.toContain("task");
  });

  it("have the parent's replaced and removed middleware", async () => {
    const denied = filesMiddleware({
      permissions: [{ effect: "deny", operations: ["write"], paths: "/secret/**" }],
    });
    const model = cast({ go: [task("sub"), "ok"], sub: [write("/secret/b.md", "no"), "done"] });
    const { files } = await createDeepAgent({ model, middleware: [denied], plan: false }).invoke(go);
    expect(files).toEqual({});
    const bare = cast({ go: [task("sub", undefined, { todo_id: null }), "ok"], sub: ["done"] });
    const result = await createDeepAgent({
      model: bare,
      without: ["FilesMiddleware", "PlanMiddleware"],
    }).invoke(go);
    expect(replies(result.messages, "task")[0]!.text).toBe("done");
    for (const { tools } of bare.requests)
      expect(JSON.stringify(tools)).not.toMatch(/write_file|write_todos|todo_id/);
  });

  it("tell the model when parallel changes did not fit together", async () => {
    const model = cast({
      go: [[task("a"), task("b")], callTool("delete_file", { file_path: "/x.md.conflict-1" }), "ok"],
      a: [read("/x.md"), edit("/x.md", "old", "from a"), "done"],
      b: [read("/x.md"), edit("/x.md", "old", "from b"), "done"],
    });
    const agent = createDeepAgent({ model, plan: false });
    const { files } = await agent.invoke({ ...go, files: { "/x.md": "old\n" } });
    expect(files).toEqual({ "/x.md": "from b\n" });
    const told = model.requests.map(({ messages }) => messages.at(-1)!.name === "file_conflict");
    expect(told.filter(Boolean)).toHaveLength(1);
  });

  it("add the files of a runnable that returns only its own", async () => {
    const runnable = {
      invoke: () => Promise.resolve({ messages: [new AIMessage("done")], files: { "/new.md": "n" } }),
    };
    const model = cast({ go: [task("x", "other"), "ok"] });
    const agent = createDeepAgent({
      model,
      plan: false,
      subagents: [{ name: "other", description: "o", runnable }],
    });
    const { files } = await agent.invoke({ ...go, files: { "/old.md": "o" } });
    expect(files).toEqual({ "/old.md": "o", "/new.md": "n" });
  });

  it("give the parent a clear error when they are unknown, throw or are cancelled", async () => {
    const model = cast({
      go: [task("x", "nobody"), task("bad"), task("y", "broken"), task("z", "cancelled"), "ok"],
      bad: [new Error("model is down")],
    });
    const agent = createDeepAgent({
      model,
      subagents: [
        {
          name: "broken",
          description: "breaks",
          runnable: { invoke: () => Promise.reject(new Error("no fuel")) },
        },
        {
          name: "cancelled",
          description: "gives up",
          runnable: { invoke: () => Promise.reject(new DOMException("timed out", "AbortError")) },
        },
      ],
    });
    const { messages } = await agent.invoke(go);
    expect(replies(messages, "task").map((reply) => [reply.status, reply.text])).toEqual([
      [
        "error",
        'Error: there is no sub-agent "nobody"; use one of general-purpose, reader, broken, cancelled.',
      ],
      ["error", 'Error: the sub-agent "general-purpose" failed: model is down.'],
      ["error", 'Error: the sub-agent "broken" failed: no fuel.'],
      ["error", 'Error: the sub-agent "cancelled" failed: timed out.'],
    ]);
    expect(messages.at(-1)!.text).toBe("ok");
  });

  it("move the plan item they work on", async () => {
    const model = cast({
      go: [
        [
          callTool("write_todos", { todos: ["dig", "fill", "rest"] }),
          task("dig", undefined, { todo_id: "1" }),
        ],
        [task("fill", undefined, { todo_id: 2 }), task("rest", "broken", { todo_id: "3" })],
        task("dig", undefined, { todo_id: "9" }),
        callTool("update_todos", { cancel: "3" }),
        "ok",
      ],
      dig: [callTool("write_todos", { todos: ["a"] }), callTool("update_todos", { done: "1" }), "dug"],
      fill: ["filled"],
    });
    const agent = createDeepAgent({
      model,
      plan: { verify: false, now: () => 5 },
      subagents: [
        { name: "broken", description: "x", runnable: { invoke: () => Promise.reject(new Error("no bed")) } },
      ],
    });
    const events: string[] = [];
    let todos: { status: string; note?: string; actuals?: { modelCalls: number } }[] = [];
    const stream = await agent.stream(go, { streamMode: ["custom", "values"] });
    for await (const [mode, chunk] of stream) {
      if (mode === "values") todos = chunk.todos;
      else if (isPlanChangeEvent(chunk))
        events.push(
          `${chunk.owner.replace(/:.*/, "")} ${chunk.by} ${chunk.counts.completed}/${chunk.counts.total}`,
        );
      else if (isSubagentEvent(chunk))
        events.push(`${chunk.type} ${chunk.name} ${chunk.todoId ?? ""} ${chunk.ok ?? ""}`.trim());
    }
    expect(todos.map((todo) => todo.status)).toEqual(["completed", "completed", "cancelled"]);
    expect(todos[2]?.note).toBe("sub-agent: no bed");
    // Three of its sub-agent, and the one that started it.
    expect(todos[0]?.actuals?.modelCalls).toBe(4);
    expect(events.slice(0, 5)).toEqual([
      "main model 0/3",
      "subagent-start general-purpose 1",
      "main/dig model 0/1",
      "main/dig model 1/1",
      "subagent-end general-purpose 1 true",
    ]);
    expect(events).toContain("main harness 1/3");
    const errors = model.requests
      .at(-1)!
      .messages.filter((message) => message.text.includes("there is no item 9"));
    expect(errors).toHaveLength(1);
    for (const { messages } of model.requests) {
      expect(messages.filter((message) => message.text.includes("The user changed"))).toEqual([]);
    }
  });

  it("have a place below the owner of the main plan", async () => {
    const owners = async (plan: PlanOptions) => {
      const model = cast({
        go: [task("sub"), "ok"],
        sub: [callTool("write_todos", { todos: ["a"] }), callTool("update_todos", { done: "1" }), "done"],
      });
      const stream = await createDeepAgent({ model, plan }).stream(go, { streamMode: "custom" });
      const seen = new Set<string>();
      for await (const event of stream) {
        if (isPlanChangeEvent(event) || isSubagentEvent(event)) seen.add(event.owner.replace(/:.*/, ""));
      }
      return [...seen];
    };
    expect(await owners({ owner: "planner" })).toEqual(["planner/sub"]);
    expect(await owners({})).toEqual(["main/sub"]);
  });

  it("lose nothing when 20 sub-agents make 5 edits each on 100 files at once", async () => {
    const paths = Array.from({ length: 100 }, (_, n) => `/f${n}.md`);
    const jobs = Array.from({ length: 20 }, (_, n) => `job ${n}`);
    const scripts: Record<string, Step[]> = { go: [jobs.map((job) => task(job)), "ok"] };
    jobs.forEach((job, n) => {
      const mine = paths.slice(n * 5, n * 5 + 5);
      scripts[job] = [mine.map(read), mine.map((path) => edit(path, "old", `new ${n}`)), "done"];
    });
    const agent = createDeepAgent({ model: cast(scripts), plan: false, maxConcurrency: 20 });
    const seed = Object.fromEntries(paths.map((path) => [path, "old"]));
    const { files } = await agent.invoke({ ...go, files: seed });
    expect(Object.keys(files)).toHaveLength(100);
    paths.forEach((path, n) => expect(files[path]).toBe(`new ${Math.floor(n / 5)}`));
  });

  it("run at most so many at a time", async () => {
    let [running, most] = [0, 0];
    const slow = {
      name: "slow",
      description: "slow",
      runnable: {
        invoke: async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 5));
          running -= 1;
          return { messages: [new AIMessage("done")] };
        },
      },
    };
    const model = cast({ go: [Array.from({ length: 9 }, (_, n) => task(String(n), "slow")), "ok"] });
    await createDeepAgent({ model, subagents: [slow], maxConcurrency: 3 }).invoke(go);
    expect(most).toBe(3);
  });

  it("pass an interrupt to the caller and resume without repeating finished work", async () => {
    let effects = 0;
    const effect = tool(() => `effect ${++effects}`, {
      name: "effect",
      description: "e",
      schema: z.object({}),
    });
    const ask = tool(({ q }) => String(interrupt(q)), {
      name: "ask",
      description: "a",
      schema: z.object({ q: z.string() }),
    });
    const model = cast({
      go: [callTool("effect"), task("sub"), "ok"],
      sub: [callTool("effect"), callTool("ask", { q: "sure?" }), callTool("effect"), "done"],
    });
    const agent = createDeepAgent({
      model,
      plan: false,
      tools: [effect, ask],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    const paused = (await agent.invoke(go, config)) as unknown as Record<string, { value: string }[]>;
    expect(paused["__interrupt__"]?.[0]?.value).toBe("sure?");
    const { messages } = await agent.invoke(new Command({ resume: "yes" }), config);
    expect(messages.at(-1)!.text).toBe("ok");
    expect(effects).toBe(3);
  });

  it("do not repeat a finished call next to an interrupted one", async () => {
    let effects = 0;
    const effect = tool(() => `effect ${++effects}`, {
      name: "effect",
      description: "e",
      schema: z.object({}),
    });
    const ask = tool(() => String(interrupt("sure?")), {
      name: "ask",
      description: "a",
      schema: z.object({}),
    });
    const model = cast({ go: [task("sub"), "ok"], sub: [[callTool("effect"), callTool("ask")], "done"] });
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" } };
    const build = () => createDeepAgent({ model, plan: false, tools: [effect, ask], checkpointer });
    await build().invoke(go, config);
    const { messages } = await build().invoke(new Command({ resume: "yes" }), config);
    expect(messages.at(-1)!.text).toBe("ok");
    expect(effects).toBe(1);
  });

  it("are reached by the caller's abort", async () => {
    const controller = new AbortController();
    let sawAbort = false;
    const waiting = {
      name: "waiting",
      description: "waits",
      runnable: {
        invoke: (_input: object, config?: { signal?: AbortSignal }) =>
          new Promise<object>((_resolve, reject) => {
            config!.signal!.addEventListener("abort", () => {
              sawAbort = true;
              reject(new Error("aborted"));
            });
            controller.abort();
          }),
      },
    };
    const agent = createDeepAgent({
      model: cast({ go: [task("x", "waiting"), "never"] }),
      subagents: [waiting as never],
    });
    await expect(agent.invoke(go, { signal: controller.signal })).rejects.toThrow(/abort/i);
    expect(sawAbort).toBe(true);
  });

  it("may call sub-agents only as deep as allowed", async () => {
    const scripts = { go: [task("one"), "ok"], one: [task("two"), "1"], two: ["2"] };
    const shallow = await createDeepAgent({ model: cast({ ...scripts, one: ["1"] }) }).invoke(go);
    expect(replies(shallow.messages)[0]!.text).toBe("1");
    const model = cast(scripts);
    await createDeepAgent({ model, maxDepth: 2 }).invoke(go);
    const deepest = model.requests.find((request) => request.messages[1]!.text === "two")!;
    expect(JSON.stringify(deepest.tools)).not.toContain('"task"');
  });
});

describe("context", () => {
  const summarization = {
    trigger: { messages: 6 },
    keep: { messages: 2 },
    model: new ScriptedModel(["They talked."], { loop: true }),
  };

  it("is summarized; the plan is shown again and the whole conversation can be read", async () => {
    const note = tool(() => "noted", { name: "note", description: "n", schema: z.object({}) });
    const steps: Step[] = [
      callTool("write_todos", { todos: ["read", "build"] }),
      callTool("note"),
      callTool("note"),
      callTool("update_todos", { done: "1,2" }),
      "ok",
    ];
    const model = new ScriptedModel([
      ...steps.slice(0, 4),
      callTool("read_file", { file_path: "/.history/conversation.md" }),
      "ok",
    ]);
    const { files, messages } = await createDeepAgent({ model, tools: [note], summarization }).invoke(go);
    const sent = model.requests[3]!.messages;
    expect(sent.filter((message) => message.text.includes("[>] 1: read"))).toHaveLength(1);
    expect(sent[1]!.text).toContain("They talked.");
    expect(sent[1]!.text).toContain("/.history/conversation.md");
    const conversation = messages.findLast(({ type }) => type === "tool")!.text;
    expect(conversation).toContain("## 1 user");
    expect(conversation).toContain('call write_todos {"todos":["read","build"]}');
    expect(files).toEqual({});
  });

  it("stays whole when the summary cannot be had", async () => {
    const note = tool(() => "noted", { name: "note", description: "n", schema: z.looseObject({}) });
    const failing = { ...summarization, model: new ScriptedModel([new Error("429")], { loop: true }) };
    const model = new ScriptedModel([...Array.from({ length: 5 }, (_, n) => callTool("note", { n })), "ok"]);
    const { messages } = await createDeepAgent({
      model,
      tools: [note],
      plan: false,
      summarization: failing,
    }).invoke(go);
    expect(messages[0]!.text).toBe("go");
    expect(messages).toHaveLength(12);
  });

  it("is repaired when an interrupted run continues with new input", async () => {
    const ask = tool(() => String(interrupt("?")), { name: "ask", description: "a", schema: z.object({}) });
    const model = new ScriptedModel([callTool("ask"), "fine"]);
    const agent = createDeepAgent({ model, plan: false, tools: [ask], checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke(go, config);
    await agent.invoke({ messages: [new HumanMessage("never mind")] }, config);
    const roles = model.requests[1]!.messages.map((message) => message.getType());
    expect(roles).toEqual(["system", "human", "ai", "tool", "human"]);
  });
});

describe("the agent", () => {
  it("costs at most 2,000 tokens for prompt and tool definitions", async () => {
    const model = new ScriptedModel(["hi"]);
    await createDeepAgent({ model }).invoke(go);
    const [request] = model.requests;
    expect(encode(request!.messages[0]!.text + JSON.stringify(request!.tools)).length).toBeLessThanOrEqual(
      2000,
    );
  });

  it("continues after a tool throws or gets wrong arguments, and shows no stack", async () => {
    const fragile = tool(
      ({ n }) => {
        throw new Error(`broke at ${n}`);
      },
      { name: "fragile", description: "f", schema: z.object({ n: z.number() }) },
    );
    const model = new ScriptedModel([callTool("fragile", { n: 1 }), callTool("fragile", { n: "x" }), "ok"]);
    const { messages } = await createDeepAgent({ model, tools: [fragile] }).invoke(go);
    const [thrown, wrong] = replies(messages).map((reply) => reply.text);
    expect(thrown).toBe("Error: broke at 1");
    expect(wrong).toContain("expected number");
    for (const text of [thrown, wrong]) expect(text).not.toMatch(/\n\s+at |node_modules/);
  });

  it("takes as many graph steps as a bare agent", async () => {
    const note = tool(() => "noted", { name: "note", description: "n", schema: z.object({}) });
    const steps: Step[] = [callTool("note"), callTool("note"), "ok"];
    const counts: number[] = [];
    for (const build of [createAgent, createDeepAgent as unknown as typeof createAgent]) {
      const checkpointer = new MemorySaver();
      const agent = build({ model: new ScriptedModel(steps), tools: [note], checkpointer });
      await agent.invoke(go, { configurable: { thread_id: "t" } });
      counts.push(Object.keys(checkpointer.storage["t"]![""]!).length);
    }
    expect(counts[1]).toBe(counts[0]);
  });

  it("refuses a tool with a built-in name, and unknown middleware in without", () => {
    const ls = tool(() => "", { name: "ls", description: "x", schema: z.object({}) });
    const model = new ScriptedModel([]);
    const theirs = [todoListMiddleware() as never];
    expect(() => createDeepAgent({ model, middleware: theirs })).toThrow(
      "two plans: remove todoListMiddleware from middleware, or leave ours out with plan: false",
    );
    expect(() => createDeepAgent({ model, middleware: theirs, plan: false })).not.toThrow();
    expect(() => createDeepAgent({ model, tools: [ls] })).toThrow(
      'the tool "ls" has the name of a built-in tool',
    );
    expect(() => createDeepAgent({ model, without: ["Nope" as never] })).toThrow('without names "Nope"');
  });

  it("lets every default middleware be replaced or removed by name", async () => {
    const model = new ScriptedModel(["hi"]);
    const replaced = createMiddleware({
      name: "FilesMiddleware",
      wrapModelCall: (request, handler) =>
        handler({ ...request, systemMessage: request.systemMessage.concat("\nMINE") }),
    });
    await createDeepAgent({
      model,
      middleware: [replaced],
      without: ["SubagentsMiddleware", "PlanMiddleware"],
    }).invoke(go);
    expect(model.requests[0]!.tools).toEqual([]);
    expect(model.requests[0]!.messages[0]!.text).toContain("MINE");
  });

  it("does not perform a call that the user rejected, even through a later call", async () => {
    const model = new ScriptedModel([[write("/a.md", "secret"), edit("/a.md", "secret", "leaked")], "ok"]);
    const agent = createDeepAgent({
      model,
      plan: false,
      interruptOn: { write_file: true },
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke(go, config);
    const { files } = await agent.invoke(
      new Command({ resume: { decisions: [{ type: "reject" }] } }),
      config,
    );
    expect(files).toEqual({});
  });

  it("asks before tools that need consent", async () => {
    const model = new ScriptedModel([write("/a.md", "x"), "ok"]);
    const agent = createDeepAgent({
      model,
      plan: false,
      interruptOn: { write_file: true },
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    const paused = (await agent.invoke(go, config)) as unknown as Record<string, unknown[]>;
    expect(paused["__interrupt__"]).toHaveLength(1);
    expect(paused["files"]).toEqual({});
    const { files } = await agent.invoke(
      new Command({ resume: { decisions: [{ type: "approve" }] } }),
      config,
    );
    expect(files).toEqual({ "/a.md": "x" });
  });
});

describe("the request of a deep agent", () => {
  const shown = async (options: object) => {
    const model = new ScriptedModel(["ok"]);
    await createDeepAgent({ model, ...options }).invoke(go);
    const [{ messages, tools }] = model.requests as unknown as [
      { messages: { content: unknown; text: string }[]; tools: { name: string; description?: string }[] },
    ];
    return {
      system: messages[0]!,
      tools: tools.map((one) => ("function" in one ? (one.function as typeof one) : one)),
    };
  };

  it("has the chosen file tools with custom descriptions", async () => {
    const fileTools = ["read_file", { name: "ls", description: "What there is." }];
    const { tools } = await shown({ fileTools, plan: false, maxDepth: 0 });
    expect(tools.map(({ name }) => name)).toEqual(["read_file", "ls"]);
    expect(tools[1]!.description).toBe("What there is.");
    expect(() => createDeepAgent({ fileTools: ["cat"] } as never)).toThrow("fileTools");
  });

  it("has no general-purpose sub-agent when the options leave it out", async () => {
    const names = async (options: object) => (await shown(options)).tools.map(({ name }) => name);
    expect(await names({})).toContain("task");
    expect(await names({ generalPurpose: false })).not.toContain("task");
    const subagents = [{ name: "scout", description: "Looks." }];
    const { tools } = await shown({ generalPurpose: false, subagents });
    expect(JSON.stringify(tools.find(({ name }) => name === "task"))).not.toContain("general-purpose");
  });

  it("has a system message with its parts", async () => {
    const cached = { type: "text", text: "You count.", cache_control: { type: "ephemeral" } };
    const { system } = await shown({ systemPrompt: new SystemMessage({ content: [cached] as never }) });
    expect((system.content as object[])[0]).toEqual(cached);
    expect(system.text).toMatch(/^You count\.\n\nWork until[^]*update_todos/);
  });
});
