import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { createAgent, createMiddleware, todoListMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { PRESETS } from "../../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { PRESET_NAMES } from "../../vocabulary.ts";
import { planMiddleware } from "./index.ts";
import type { PlanOptions } from "./options.ts";

const work = tool(() => "worked", { name: "work", description: "work", schema: z.object({}) });
// LangChain's own type for it does not fit its own `createAgent` under exactOptionalPropertyTypes.
const theirMiddleware = todoListMiddleware() as unknown as ReturnType<typeof planMiddleware>;
const go = { messages: [new HumanMessage("go")] };

async function run(steps: Step[], options: PlanOptions = {}) {
  const model = new ScriptedModel(steps);
  const agent = createAgent({
    model,
    tools: [work],
    middleware: [planMiddleware({ verify: false, reminders: false, ...options })],
  });
  const { messages, todos } = await agent.invoke(go);
  const replies = messages.filter((message) => ToolMessage.isInstance(message));
  return { model, messages, todos, replies, texts: replies.map((reply) => reply.text) };
}

interface FunctionTool {
  function: { name: string; description: string; parameters: object };
}
const definition = (model: ScriptedModel, name: string): FunctionTool["function"] =>
  (model.requests[0]!.tools as FunctionTool[]).find((entry) => entry.function.name === name)!.function;

describe("lean", () => {
  it("costs at most 400 tokens for prompt and tool definitions together", async () => {
    const { model } = await run(["hi"]);
    const [system] = model.requests[0]!.messages;
    const tools = (model.requests[0]!.tools as FunctionTool[]).filter(
      (entry) => entry.function.name !== "work",
    );
    expect(tools.map((entry) => entry.function.name)).toEqual(["write_todos", "update_todos"]);
    expect(encode(system!.text + JSON.stringify(tools)).length).toBeLessThanOrEqual(400);
  });

  it("starts the first item, answers in one line, and starts the next item", async () => {
    const { texts, todos } = await run([
      callTool("write_todos", {
        todos: ["read", { content: "build", after: [1], priority: "high", estimate: 30 }, "check"],
      }),
      [callTool("update_todos", { done: "1" }), callTool("work")],
      callTool("update_todos", { add: ["publish"], block: [{ id: "3", note: "no access" }] }),
      callTool("update_todos", { done: "2", edit: [{ id: "4", content: "publish it", after: ["3"] }] }),
      "ok",
    ]);
    expect(texts).toEqual([
      "Plan set. 0/3 done; now 1.",
      "1/3 done; now 2.",
      "worked",
      "1/4 done; now 2; next 4; blocked 3. Added 4.",
      "2/4 done; 4 waits on 3; blocked 3. Edited 4.",
    ]);
    expect(todos.map((todo) => ({ ...todo, actuals: undefined }))).toEqual([
      { id: "1", content: "read", status: "completed" },
      { id: "2", content: "build", status: "completed", priority: "high", estimate: 30, dependsOn: ["1"] },
      { id: "3", content: "check", status: "blocked", note: "no access" },
      { id: "4", content: "publish it", status: "pending", dependsOn: ["3"] },
    ]);
  });

  it("keeps completed items when the plan is rewritten, and reports the new ids", async () => {
    const { texts } = await run([
      callTool("write_todos", { todos: ["read", "build", "check"] }),
      callTool("update_todos", { done: "1" }),
      callTool("write_todos", { todos: ["build", "measure", { content: "publish", after: [2] }] }),
      "ok",
    ]);
    expect(texts[2]).toBe(
      "Plan set. 1/4 done; now 2; next 4. Cancelled: 3.\n<plan>\n[x] 1: read\n[>] 2: build\n[ ] 4: measure\n[ ] 5: publish (after 4)\n[-] 3\n</plan>",
    );
  });

  it("never gives an id twice, also across turns, and takes no actuals from the model", async () => {
    const list = (...items: object[]) => callTool("write_todos", { todos: items });
    const { todos } = await run([
      list({ id: "x", content: "a", actuals: { elapsedMs: 5 } }, { content: "b" }, { content: "c" }),
      list({ content: "b" }),
      list({ content: "b" }, { id: "x", content: "d" }, { content: "e" }),
      "ok",
    ]);
    expect(todos.map((todo) => todo.id)).toEqual(["2", "4", "5"]);
    expect(todos.every((todo) => todo.actuals === undefined || todo.actuals.elapsedMs !== 5)).toBe(true);
  });

  it("continues the ids in a new plan, and understands a model that counts from 1", async () => {
    const { todos, texts } = await run([
      callTool("write_todos", { todos: ["read", "check"] }),
      callTool("update_todos", { done: "1,2" }),
      callTool("write_todos", { todos: ["check", "publish", { content: "tell", after: [2] }] }),
      callTool("update_todos", { done: "1" }),
      "ok",
    ]);
    expect(
      todos.map((todo) => `${todo.id} ${todo.content} ${todo.status} ${todo.dependsOn?.join() ?? ""}`),
    ).toEqual(["3 check completed ", "4 publish in_progress ", "5 tell pending 4"]);
    expect(texts.slice(2)).toEqual([
      "Plan set, 3-5. 0/3 done; now 3.",
      "1/3 done; now 4.\nNote: 1 is read as 3: this plan counts from 3.",
    ]);
  });

  it("cancels omitted items until they are listed again or omitted once more", async () => {
    const { todos, texts } = await run([
      callTool("write_todos", { todos: ["read", "build", { content: "check", after: [2] }, "publish"] }),
      callTool("write_todos", { todos: ["read", "check"] }),
      callTool("write_todos", { todos: ["read", "build"] }),
      "ok",
    ]);
    expect(texts.slice(1)).toEqual([
      "Plan set. 0/2 done; now 1; next 3. Cancelled: 2, 4.\n<plan>\n[>] 1: read\n[ ] 3: check\n[-] 2, 4\n</plan>",
      "Plan set. 0/2 done; now 1. Cancelled: 3.\n<plan>\n[>] 1: read\n[ ] 2: build\n[-] 3\n</plan>",
    ]);
    expect(todos.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "1 in_progress",
      "2 pending",
      "3 cancelled",
    ]);
  });

  it("refuses what breaks a rule, says why, and changes nothing", async () => {
    const { replies, todos } = await run([
      callTool("write_todos", { todos: ["read", { content: "build", after: [1] }] }),
      callTool("update_todos", { start: "2" }),
      callTool("update_todos", { done: "7" }),
      callTool("update_todos", { edit: [{ id: "1", after: ["2"] }] }),
      callTool("update_todos", { done: "1", add: [{ content: "x", priority: "whatever" }] }),
      "ok",
    ]);
    expect(replies.slice(1).map((reply) => [reply.status, reply.text])).toEqual([
      [
        "error",
        "Error: Item 2 cannot be started before 1: it depends on that. Complete that first.\nThe plan is unchanged.",
      ],
      ["error", "Error: done: there is no item 7; known ids: 1, 2.\nThe plan is unchanged."],
      [
        "error",
        "Error: Items wait for each other in a circle: 1 -> 2 -> 1. Remove one of these dependencies.\nItem 1 cannot be started before 2: it depends on that. Complete that first.\nThe plan is unchanged.",
      ],
      ["error", 'Error: add[0].priority is "whatever"; use high, medium, low.\nThe plan is unchanged.'],
    ]);
    expect(todos.map((todo) => todo.status)).toEqual(["in_progress", "pending"]);
  });

  it("takes the later of two lists in one turn, and does not report it as an edit", async () => {
    const steps: Step[] = [
      [callTool("write_todos", { todos: ["a"] }), callTool("write_todos", { todos: ["b"] })],
      callTool("update_todos", { done: "2" }),
      "ok",
    ];
    const { todos, texts, model } = await run(steps, { reminders: {} });
    expect(todos.map(({ content, status }) => [content, status])).toEqual([
      ["b", "completed"],
      ["a", "cancelled"],
    ]);
    expect(texts[1]).toContain("This list counts, not the one before it. Cancelled: 1.");
    expect(JSON.stringify(model.requests)).not.toContain("The user changed");
  });

  it("applies 12 parallel updates of one turn in call order", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `step ${index + 1}`);
    const { todos, texts } = await run([
      callTool("write_todos", { todos: names }),
      names.map((_, index) =>
        callTool("update_todos", { done: String(index + 1), add: [`extra ${index + 1}`] }),
      ),
      "ok",
    ]);
    expect(texts.slice(1)).toEqual(
      names.map((_, index) => {
        const [done, total] = [index + 1, 13 + index];
        return `${done}/${total} done; now ${done + 1}. Added ${total}.`;
      }),
    );
    expect(todos.map((todo) => todo.id)).toEqual(Array.from({ length: 24 }, (_, index) => String(index + 1)));
    expect(todos.filter((todo) => todo.status === "completed")).toHaveLength(12);
    expect(todos.slice(12).map((todo) => todo.content)).toEqual(
      names.map((_, index) => `extra ${index + 1}`),
    );
  });

  it("does so as well when the agent runs all calls in one step (version v1)", async () => {
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["a", "b", "c"] }),
      ["1", "2", "3"].map((id) => callTool("update_todos", { done: id })),
      "ok",
    ]);
    const agent = createAgent({ model, middleware: [planMiddleware({ verify: false })], version: "v1" });
    const { todos } = await agent.invoke(go);
    expect(todos.map((todo) => todo.status)).toEqual(["completed", "completed", "completed"]);
  });

  it("merges tools that write whole lists at once", async () => {
    const suggest = tool(
      ({ name }, { state }: { state: { todos: object[] } }) =>
        new Command({ update: { todos: [...state.todos, { content: `from ${name}` }], messages: [] } }),
      { name: "suggest", description: "s", schema: z.object({ name: z.string() }) },
    );
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["read"] }),
      ["a", "b", "c"].map((name) => callTool("suggest", { name })),
      "ok",
    ]);
    const agent = createAgent({
      model,
      tools: [suggest],
      middleware: [planMiddleware({ verify: false, reminders: false })],
    });
    const { todos } = await agent.invoke(go);
    expect(todos.map((todo) => `${todo.id} ${todo.content}`)).toEqual([
      "1 read",
      "2 from a",
      "3 from b",
      "4 from c",
    ]);
  });

  it("takes the arguments as they arrive, also when another middleware changed them", async () => {
    const redact = createMiddleware({
      name: "redact",
      wrapToolCall: (request, handler) => {
        const args = { todos: ["REDACTED"] };
        return handler({ ...request, toolCall: { ...request.toolCall, args } });
      },
    });
    const model = new ScriptedModel([callTool("write_todos", { todos: ["secret a", "secret b"] }), "ok"]);
    const agent = createAgent({
      model,
      middleware: [planMiddleware({ verify: false, reminders: false }), redact],
    });
    const { todos } = await agent.invoke(go);
    expect(todos.map((todo) => todo.content)).toEqual(["REDACTED"]);
  });

  it("tells calls apart that a model gave the same id", async () => {
    const { todos } = await run([
      callTool("write_todos", { todos: ["a", "b", "c"] }),
      [callTool("update_todos", { done: "1" }, "same"), callTool("update_todos", { add: ["d"] }, "same")],
      "ok",
    ]);
    expect(todos.map((todo) => `${todo.content} ${todo.status}`)).toEqual([
      "a completed",
      "b in_progress",
      "c pending",
      "d pending",
    ]);
  });

  it("allows a write and updates of its plan in one turn", async () => {
    const { todos } = await run([
      [
        callTool("write_todos", { todos: ["read", "build"] }),
        callTool("update_todos", { done: "1" }),
        callTool("update_todos", { add: ["check"] }),
      ],
      "ok",
    ]);
    expect(todos.map((todo) => `${todo.content} ${todo.status}`)).toEqual([
      "read completed",
      "build in_progress",
      "check pending",
    ]);
  });
});

describe("repair", () => {
  const cases: [string, Record<string, unknown>, string, string[]][] = [
    [
      "a JSON string instead of a list",
      { todos: '["read","build"]' },
      "Read the JSON string in todos as a value.",
      ["read", "build"],
    ],
    [
      "broken JSON",
      { todos: "[{'content': 'read'}, {'content': 'build',}]" },
      "Repaired the broken JSON string in todos.",
      ["read", "build"],
    ],
    ["text for content", { todos: [{ text: "read" }] }, 'Read "text" as content.', ["read"]],
    ["title for content", { todos: [{ title: "read" }] }, 'Read "title" as content.', ["read"]],
    [
      "done for completed",
      { todos: [{ content: "read", status: "done" }] },
      'Interpreted the status "done" as completed.',
      ["read"],
    ],
    [
      "in-progress",
      { todos: [{ content: "read", status: "in-progress" }] },
      'Interpreted the status "in-progress" as in_progress.',
      ["read"],
    ],
    [
      "one object instead of a list",
      { todos: { content: "read" } },
      "Took the single object in todos as a list of one.",
      ["read"],
    ],
    [
      "an unknown field",
      { todos: [{ content: "read", activeForm: "Reading" }] },
      'Ignored the unknown field "activeForm".',
      ["read"],
    ],
  ];
  for (const [what, args, note, contents] of cases) {
    it(`understands ${what} and says so`, async () => {
      const { texts, todos } = await run([callTool("write_todos", args), "ok"]);
      expect(texts[0]).toContain(`\nNote: ${note}`);
      expect(todos.map((todo) => todo.content)).toEqual(contents);
    });
  }

  it("understands a number as id, a status list as update, and a list as arguments", async () => {
    const { todos, texts } = await run([
      callTool("write_todos", { todos: ["a", "b", "c", "d"] }),
      callTool("update_todos", { done: 1 }),
      callTool("update_todos", { todos: [{ id: 2, status: "done" }] }),
      callTool("update_todos", [{ id: "3", status: "completed" }] as unknown as Record<string, unknown>),
      callTool("update_todos", { id: 4, status: "Done" }),
      "ok",
    ]);
    expect(todos.map((todo) => todo.status)).toEqual(["completed", "completed", "completed", "completed"]);
    expect(texts[2]).toContain('Interpreted the status "done" as completed.');
  });

  it("understands ranges of ids, and reasons in text", async () => {
    const { todos } = await run([
      callTool("write_todos", { todos: ["a", "b", "c", "d", "e"] }),
      callTool("update_todos", { done: "1-3", block: "4: no key, 5: no access" }),
      "ok",
    ]);
    expect(todos.map((todo) => todo.note ?? todo.status)).toEqual([
      "completed",
      "completed",
      "completed",
      "no key",
      "no access",
    ]);
  });

  it("explains irreparable input with item, field and valid values, not a stack trace", async () => {
    const { texts, todos, replies } = await run([
      callTool("write_todos", { todos: 7 }),
      callTool("write_todos", {}),
      callTool("write_todos", "nonsense" as unknown as Record<string, unknown>),
      callTool("write_todos", { todos: [{ content: "read", status: "perhaps" }, { content: " " }, null] }),
      callTool("update_todos", { frobnicate: 1 }),
      "ok",
    ]);
    expect(texts).toEqual([
      "Error: todos must be a list of items; got 7.\nThe plan is unchanged.",
      "Error: todos must be a list of items; got {}.\nThe plan is unchanged.",
      'Error: todos must be a list of items; got "nonsense".\nThe plan is unchanged.',
      [
        'Error: Item 1: invalid status "perhaps"; use one of pending, in_progress, completed, blocked, cancelled.',
        "todos[2] must be an object with content; got null.",
        "todos[1] has no content; say in a few words what is to be done.",
        "The plan is unchanged.",
      ].join("\n"),
      'Error: "frobnicate" is not an operation; use start, done, cancel, block, add, edit, order.\nThe plan is unchanged.',
    ]);
    expect(todos).toEqual([]);
    expect(replies.every((reply) => reply.status === "error")).toBe(true);
    for (const text of texts) expect(text).not.toMatch(/\bat .*:\d+|\.[jt]s\b/);
  });
});

describe("classic", () => {
  it("has the tool of LangChain's todoListMiddleware: same name, same arguments", async () => {
    const theirs = new ScriptedModel(["hi"]);
    await createAgent({ model: theirs, tools: [work], middleware: [theirMiddleware] }).invoke(go);
    const { model } = await run(["hi"], { preset: "classic" });
    const { $schema: _, ...parameters } = definition(theirs, "write_todos").parameters as Record<
      string,
      unknown
    >;
    expect(definition(model, "write_todos").parameters).toEqual(parameters);
    expect(model.requests[0]!.tools).toHaveLength(theirs.requests[0]!.tools.length);
  });

  it("answers as LangChain's does", async () => {
    const steps = [callTool("write_todos", { todos: [{ content: "read", status: "in_progress" }] }), "ok"];
    const theirs = createAgent({ model: new ScriptedModel(steps), middleware: [theirMiddleware] });
    const { messages } = await theirs.invoke(go);
    const reply = messages.find((message) => ToolMessage.isInstance(message));
    const { texts } = await run(steps, { preset: "classic" });
    expect(texts).toEqual([reply!.text]);
  });

  it("takes systemPrompt and toolDescription", async () => {
    const { model } = await run(["hi"], {
      preset: "classic",
      systemPrompt: "Plan well.",
      toolDescription: "The plan.",
    });
    expect(model.requests[0]!.messages[0]!.text).toBe("Plan well.");
    expect(definition(model, "write_todos").description).toBe("The plan.");
  });

  it("streams the list in updates, as LangChain's does", async () => {
    const list = [{ content: "read", status: "in_progress" }];
    const model = new ScriptedModel([callTool("write_todos", { todos: list }), "ok"]);
    const agent = createAgent({ model, middleware: [planMiddleware({ preset: "classic" })] });
    const seen: unknown[] = [];
    for await (const chunk of await agent.stream(go, { streamMode: "updates" })) {
      const { tools } = chunk as { tools?: { todos: unknown } };
      if (tools) seen.push(tools.todos);
    }
    expect(seen).toEqual([[expect.objectContaining({ id: "1", ...list[0] })]]);
  });

  it("refuses parallel writes, runs the turn's other calls, and lets the model recover", async () => {
    const list = (content: string) => ({ todos: [{ content, status: "in_progress" }] });
    const { replies, todos, messages } = await run(
      [
        [callTool("write_todos", list("a")), callTool("work"), callTool("write_todos", list("b"))],
        callTool("write_todos", list("c")),
        "Recovered.",
      ],
      { preset: "classic" },
    );
    expect(replies.map((reply) => reply.status)).toEqual(["error", "success", "error", "success"]);
    expect(replies[0]!.text).toContain("write_todos was called 2 times in one turn");
    expect(replies[1]!.text).toBe("worked");
    expect(todos.map((todo) => todo.content)).toEqual(["c"]);
    expect(messages.at(-1)!.text).toBe("Recovered.");
  });
});

describe("deerflow", () => {
  it("prompts in XML and stresses the critical rules", async () => {
    const { model } = await run(["hi"], { preset: "deerflow" });
    const prompt = model.requests[0]!.messages[0]!.text;
    expect(prompt).toMatch(/^<todo_list_system>[^]*<\/todo_list_system>$/);
    expect(prompt).toContain("CRITICAL");
    expect(definition(model, "write_todos").description).toContain("<completion_requirements>");
  });
});

describe("checklist", () => {
  const items = (...list: [string, string, string?][]) => ({
    items: list.map(([text, status, id]) => ({ text, status, ...(id !== undefined && { id }) })),
  });

  it("renders the checklist of the lesson, with ids that default to the position", async () => {
    const { texts, model } = await run(
      [
        callTool(
          "todo",
          items(
            ["Read the project structure", "COMPLETED"],
            ["Analyze pom.xml dependencies", "in_progress"],
            ["Write summary report", "pending"],
          ),
        ),
        "ok",
      ],
      { preset: "checklist" },
    );
    expect(texts[0]).toBe(
      "[x] #1: Read the project structure\n[>] #2: Analyze pom.xml dependencies\n[ ] #3: Write summary report\n\n(1/3 completed)",
    );
    expect(definition(model, "todo").parameters).toMatchObject({ required: ["items"] });
  });

  it("keeps the ids that the model sent, and reports when it used a position instead", async () => {
    const { texts, todos } = await run(
      [
        callTool("todo", items(["Read", "in_progress", "constructor"], ["Build", "pending", "step one"])),
        callTool("todo", items(["Build", "pending"], ["Read", "completed", "1"])),
        "ok",
      ],
      { preset: "checklist", reminders: { edited: true } },
    );
    expect(texts).toEqual([
      "[>] #constructor: Read\n[ ] #step one: Build\n\n(0/2 completed)",
      "[ ] #2: Build\n[x] #1: Read\n\n(1/2 completed)\nNote: items[0] has the id 2: 1 is another item's.",
    ]);
    expect(todos.map(({ id }) => id)).toEqual(["2", "1"]);
  });

  it("refuses a 21st item, an unknown status and a second in_progress, and says so", async () => {
    const many = items(
      ...Array.from({ length: 21 }, (_, index): [string, string] => [`t${index}`, "pending"]),
    );
    const { texts, todos } = await run(
      [
        callTool("todo", many),
        callTool("todo", items(["a", "done", "7"])),
        callTool("todo", items(["a", "in_progress"], ["b", "in_progress"])),
        callTool("todo", { items: "none" }),
        callTool("todo", { items: many.items.slice(0, 20) }),
        "ok",
      ],
      { preset: "checklist" },
    );
    expect(texts[0]).toContain("Max 20 todos allowed");
    expect(texts[1]).toContain('Item 7: invalid status "done"; use one of pending, in_progress, completed.');
    expect(texts[2]).toContain("Only one task can be in_progress at a time");
    expect(texts[3]).toContain("must be a list");
    expect(todos).toHaveLength(20);
  });
});

describe("every preset", () => {
  for (const preset of PRESET_NAMES) {
    it(`${preset} can be overridden knob by knob`, async () => {
      const name = preset === "checklist" ? "todo" : "write_todos";
      const key = preset === "checklist" ? "items" : "todos";
      const field = preset === "checklist" ? "text" : "content";
      const list = ["a", "b", "c"].map((text) => ({ [field]: text, status: "pending" }));
      const { texts } = await run([callTool(name, { [key]: list }), "ok"], { preset, maxItems: 2 });
      expect(texts[0]).toContain("Max 2 todos allowed; this would make 3.");
    });
  }

  it.each(PRESET_NAMES)("%s tells the model when a plan is due", (preset) => {
    const { systemPrompt, tools } = PRESETS[preset];
    const told = `${systemPrompt}\n${tools.write.description}`;
    for (const reason of [
      /\b(3|three) or more\b/i,
      /several (tasks|things)/,
      /ask(s|ed) (to plan|for a)/,
      /results( that)? may change/,
    ]) {
      expect(told).toMatch(reason);
    }
  });

  it.each(["classic", "deerflow"] as const)(
    "%s tells the model not to complete an item that is not good enough",
    (preset) => {
      expect(PRESETS[preset].tools.write.description).toMatch(/not as good as|quality is below/);
    },
  );

  it("refuses options that cannot work, and says which and why", () => {
    const cases: [unknown, string][] = [
      [{ preset: "nope" }, 'preset: Invalid option: expected one of "lean"|"classic"|"deerflow"|"checklist"'],
      [{ maxItems: 0 }, "maxItems: must be at least 1"],
      [{ maxItems: "5" }, "maxItems: Invalid input: expected number"],
      [{ maxItem: 3 }, 'there is no option "maxItem" (there are preset, '],
      [{ approval: "maybe" }, 'approval: Invalid option: expected one of "first"|"always"|"never"'],
      [{ idle: "begin" }, "idle: Invalid option"],
      [{ reminders: { stail: false } }, 'there is no option "reminders.stail"'],
      [{ reminders: { stale: 3 } }, "reminders.stale: Invalid input"],
      [{ verify: true }, "verify: must be a function"],
      [{ verifyTimeout: "1s" }, "verifyTimeout: Invalid input: expected number"],
      [{ statuses: ["pending"] }, "statuses: must include pending, in_progress and completed"],
      ["classic", "the options: Invalid input: expected object"],
    ];
    for (const [options, message] of cases) {
      expect(() => planMiddleware(options as PlanOptions)).toThrow(`planMiddleware: ${message}`);
    }
    expect(() => planMiddleware({ maxItems: undefined } as never)).not.toThrow();
  });
});
