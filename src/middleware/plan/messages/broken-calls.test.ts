import { LLMock } from "@copilotkit/aimock";
import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  ToolMessage,
  defaultToolCallParser,
  type BaseMessage,
} from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, modelCallLimitMiddleware, tool, toolStrategy } from "langchain";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { repairJson } from "../../../plan/read/repair.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { planMiddleware } from "../index.ts";
import type { PlanOptions } from "../options.ts";
import { repairCalls } from "./broken-calls.ts";

const work = tool(() => "worked", { name: "work", description: "work", schema: z.object({}) });
const go = { messages: [new HumanMessage("go")] };
const TWO = callTool("write_todos", { todos: ["read", "build"] });
const NOTE = "\nNote: Repaired the broken JSON of the arguments.";

/** A message as `@langchain/openai` makes it of calls of which some have arguments that are no JSON. */
function broken(calls: [name: string, args: string][], finish_reason = "tool_calls"): AIMessage {
  const raw = calls.map(([name, args], at) => ({
    id: `call_${name}_${at}`,
    type: "function" as const,
    function: { name, arguments: args },
  }));
  const [tool_calls, invalid_tool_calls] = defaultToolCallParser(raw);
  const additional_kwargs = tool_calls.length > 0 ? { tool_calls: raw } : {};
  const response_metadata = { finish_reason };
  return new AIMessage({ content: "", tool_calls, invalid_tool_calls, additional_kwargs, response_metadata });
}

type AnyMiddleware = ReturnType<typeof planMiddleware>;
const limitCalls = modelCallLimitMiddleware as unknown as (options: object) => AnyMiddleware;

function agentWith(steps: Step[], options: PlanOptions = {}, others: AnyMiddleware[] = []) {
  const model = new ScriptedModel(steps);
  const middleware = [planMiddleware({ verify: false, ...options }), ...others] as [AnyMiddleware];
  const agent = createAgent({ model, tools: [work], middleware, checkpointer: new MemorySaver() });
  return { model, agent, config: { configurable: { thread_id: "t" } } };
}

async function run(...args: Parameters<typeof agentWith>) {
  const { model, agent, config } = agentWith(...args);
  const { messages, todos } = await agent.invoke(go, config);
  const replies = messages.filter((message) => ToolMessage.isInstance(message));
  return { model, messages, todos, texts: replies.map((reply) => reply.text) };
}

const asked = (messages: readonly BaseMessage[]): string[] =>
  messages.filter(({ name }) => name === "tool_call_reminder").map(({ text }) => text);

describe("a call nested too deeply for a checkpoint to be read again", () => {
  const nested = (depth: number): unknown => {
    let value: unknown = "x";
    for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { a: value };
    return value;
  };

  it.each([60, 2_500, 10_000])("is not run, and the model is notified (%i)", async (depth) => {
    const { agent, config, model } = agentWith([
      callTool("work", { value: nested(depth) }),
      callTool("work"),
      "ok",
    ]);
    const { messages } = await agent.invoke(go, config);
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(asked(model.requests[1]!.messages)).toEqual([
      expect.stringContaining("the arguments of your call to work are nested too deep"),
    ]);
    expect((await agent.graph.getState(config)).values).toHaveProperty("messages.length", 4);
  });

  it("is removed from the provider's message content", async () => {
    const call = { id: "1", name: "work", args: { value: nested(100) } };
    const content = [
      { type: "text", text: "Well." },
      { type: "tool_use", id: "1", name: "work", input: call.args },
    ];
    const message = new AIMessage({ content, tool_calls: [call] });
    repairCalls(message, []);
    expect(message.content).toEqual([content[0]]);
    expect(JSON.stringify(message)).not.toContain("[[");
  });

  it("is unrealistically deep: a call with 30 levels still runs", async () => {
    const { agent, config } = agentWith([callTool("work", { value: nested(30) }), "ok"]);
    const { messages } = await agent.invoke(go, config);
    expect(messages.map(({ text }) => text)).toEqual(["go", "", "worked", "ok"]);
  });
});

describe("a plan call whose arguments are almost JSON", () => {
  it("is repaired, run, and said to be repaired", async () => {
    const { model, todos, texts, messages } = await run([
      broken([["write_todos", '{"todos": ["read", {content: \'build\'},]}']]),
      broken([["update_todos", '{"done": "1,2"']]),
      "ok",
    ]);
    expect(texts).toEqual([`Plan set. 0/2 done; now 1.${NOTE}`, `2/2 done.${NOTE}`]);
    expect(todos.map(({ content, status }) => `${content} ${status}`)).toEqual([
      "read completed",
      "build completed",
    ]);
    expect(model.requests).toHaveLength(3);
    const first = messages.find((message) => AIMessage.isInstance(message));
    expect(first?.tool_calls).toMatchObject([
      { id: "call_write_todos_0", args: { todos: ["read", { content: "build" }] } },
    ]);
    expect(first?.invalid_tool_calls).toEqual([]);
  });

  it("is repaired in its place in a message that has it only in the content", () => {
    const invalid = (name: string, id?: string) => ({
      type: "invalid_tool_call",
      id,
      name,
      args: '{"done": "1",}',
    });
    const other = { type: "tool_call" as const, id: "b", name: "work", args: {} };
    const content = [invalid("update_todos", "a"), other, invalid("update_todos"), invalid("work", "d")];
    const message = new AIMessage({ content, response_metadata: { output_version: "v1" } } as object);
    repairCalls(message, ["update_todos"]);
    const repaired = { type: "tool_call", name: "update_todos", args: { done: "1" } };
    const calls = [{ ...repaired, id: "a" }, other, { ...repaired, id: expect.stringMatching(/^call_/) }];
    expect(message.content).toEqual(calls);
    expect(message.tool_calls).toHaveLength(3);
    expect(message.tool_calls).toEqual(expect.arrayContaining(calls));
    expect(message.invalid_tool_calls).toMatchObject([{ id: "d", name: "work" }]);
  });

  it("keeps its order among the valid calls of the message", async () => {
    const both = broken([
      ["update_todos", '{"done": "1",}'],
      ["work", "{}"],
      ["update_todos", '{"add": ["check"]}'],
    ]);
    const { texts, todos } = await run([TWO, both, "1", "2", "3"]);
    expect(texts.slice(1)).toEqual([`1/2 done; now 2.${NOTE}`, "worked", "1/3 done; now 2. Added 3."]);
    expect(todos).toHaveLength(3);
  });

  it("drops no open item, since the repair may have lost it", async () => {
    const list = broken([["write_todos", '{"todos": ["read",]}']]);
    const { texts, todos } = await run([
      TWO,
      list,
      callTool("update_todos", { cancel: "2" }),
      list,
      "1",
      "2",
      "3",
    ]);
    expect(texts[1]).toBe(
      "Error: The arguments were not valid JSON, and what could be read of them would drop 2. Call write_todos again with the complete list.\nThe plan is unchanged.",
    );
    expect(texts[3]).toContain(NOTE);
    expect(todos).toHaveLength(1);
  });

  it("yields to the list that the approving user edited, even if items are missing", async () => {
    const { agent, config } = agentWith(
      [TWO, broken([["write_todos", '{"todos": ["read", "build", "check",]}']]), "1", "2", "3"],
      { approval: "always" },
    );
    await agent.invoke(go, config);
    await agent.invoke(new Command({ resume: "approve" }), config);
    const edit = { type: "edit", todos: [{ content: "read" }] };
    const { todos } = await agent.invoke(new Command({ resume: edit }), config);
    expect(todos.map(({ content, status }) => `${content} ${status}`)).toEqual([
      "read in_progress",
      "build cancelled",
    ]);
  });

  it("is repaired in other presets, without reminders, and without a client id", async () => {
    const invalid_tool_calls = [{ name: "todo", args: "{items: [{id: 1, text: read, status: pending}]}" }];
    const { todos, texts } = await run([new AIMessage({ content: "", invalid_tool_calls }), "ok"], {
      preset: "checklist",
      reminders: false,
    });
    expect(todos).toMatchObject([{ id: "1", content: "read" }]);
    expect(texts[0]).toContain(NOTE);
  });
});

describe("calls that cannot be read", () => {
  const bad = broken([["work", '{"path": "a.ts", "text": "he said "no""']]);

  it("are asked for again within the step, and the broken message is not kept", async () => {
    for (const before of [[], [TWO]]) {
      const { model, messages } = await run([...before, bad, callTool("work"), "1", "2", "3"]);
      const last = model.requests[before.length + 1]!.messages.at(-1)!;
      expect(last.text).toBe(
        String.raw`<system_reminder>Not run: the arguments of your call to work were not valid JSON: they break at character 35, at ": \"he said \"no\"\"". Call it again.</system_reminder>`,
      );
      expect(last.additional_kwargs).toEqual({ hide_from_ui: true });
      expect(asked(messages)).toEqual([]);
      const kept = messages.filter((message) => AIMessage.isInstance(message));
      expect(kept.every(({ invalid_tool_calls }) => invalid_tool_calls?.length === 0)).toBe(true);
      expect(messages.some((message) => message.text === "worked")).toBe(true);
    }
  });

  it("name the position of the error, past harmless raw line breaks", async () => {
    const { model } = await run([broken([["work", '{"text": "one\n\ttwo "no""}']]), "ok"]);
    expect(asked(model.requests[1]!.messages)[0]).toContain(
      String.raw`they break at character 20, at " \"one\n\ttwo \"no\"\"}". Call it again.`,
    );
    const raw = await run([broken([["work", '{"text": "one\ntwo"}']]), "ok"]);
    expect(asked(raw.model.requests[1]!.messages)[0]).toContain("they break at character 13, at ");
  });

  it("are asked for at most twice in a row", async () => {
    const { model, messages } = await run([bad, bad, bad]);
    expect(model.requests).toHaveLength(3);
    expect(asked(model.requests[2]!.messages)).toHaveLength(2);
    expect((messages.at(-1) as AIMessage).invalid_tool_calls).toHaveLength(1);
    const recovered = await run([bad, bad, callTool("work"), bad, bad, "ok"]);
    expect(recovered.messages.at(-1)?.text).toBe("ok");
  });

  it("may be hopeless calls to the plan's own tools", async () => {
    const { model, todos } = await run([broken([["write_todos", "read and build"]]), TWO, "1", "2", "3"]);
    expect(asked(model.requests[1]!.messages)[0]).toContain("your call to write_todos");
    expect(todos).toHaveLength(2);
  });

  it("get their answers after the results of the message's other calls", async () => {
    const both = broken([
      ["work", "{"],
      ["work", "{}"],
    ]);
    const { model } = await run([both, callTool("work"), "ok"]);
    const text =
      "<system_reminder>Not run: the arguments of your call to work were not valid JSON: they end at character 1, unclosed. Call it again.</system_reminder>";
    const parts = model.requests.map(({ messages }) =>
      messages
        .slice(2)
        .map((message) => (message.name === "tool_call_reminder" ? message.text : message.type)),
    );
    expect(parts).toEqual([[], ["ai", "tool", text], ["ai", "tool", text, "ai", "tool"]]);
  });

  it("are counted by modelCallLimitMiddleware, with a plan or without", async () => {
    for (const before of [[], [TWO]]) {
      const limit = limitCalls({ runLimit: before.length + 3, exitBehavior: "end" });
      const steps = [...before, bad, bad, callTool("work"), "never asked"];
      const { model, messages } = await run(steps, {}, [limit]);
      expect(model.requests).toHaveLength(before.length + 3);
      expect(messages.at(-1)?.text).toContain("limits exceeded");
    }
  });

  it("may be the structured response", async () => {
    const responseFormat = toolStrategy(z.object({ verdict: z.string() }));
    const [{ name }] = responseFormat as unknown as [{ name: string }];
    const model = new ScriptedModel([broken([[name, '{"verdict": ']]), callTool(name, { verdict: "good" })]);
    const agent = createAgent({ model, middleware: [planMiddleware({ verify: false })], responseFormat });
    expect((await agent.invoke(go)).structuredResponse).toEqual({ verdict: "good" });
  });
});

describe("a call that is cut off", () => {
  it("is asked for again and never completed by guessing", async () => {
    const cut = broken([["write_todos", '{"todos": ["read", "build"]']], "length");
    const { model, todos } = await run([cut, TWO, "1", "2", "3"]);
    expect(asked(model.requests[1]!.messages)[0]).toContain("cut off at the output limit");
    expect(todos).toHaveLength(2);
    const silent = broken([["write_todos", '{"todos": ["read", "bui']]);
    expect((await run([silent, TWO, "1", "2", "3"])).todos).toHaveLength(2);
  });

  it("is one in a stream, too, which closes its brackets", () => {
    const chunk = (args: string) => ({
      id: "1",
      index: 0,
      name: "work",
      args,
      type: "tool_call_chunk" as const,
    });
    const streamed = (args: string, finish_reason: string): AIMessage =>
      new AIMessageChunk({
        content: "",
        tool_call_chunks: [chunk(args)],
        response_metadata: { finish_reason },
      });
    const calls = (message: AIMessage): number[] => {
      repairCalls(message, []);
      return [message.tool_calls!.length, message.invalid_tool_calls!.length];
    };
    for (const reason of ["length", "tool_calls", "stop"]) {
      expect(calls(streamed('{"text": "half of i', reason))).toEqual([0, 1]);
      expect(calls(streamed('{"text": "all", "lines": [1, 2', reason))).toEqual([0, 1]);
      expect(calls(streamed('{"text": "all of it"}', reason))).toEqual([1, 0]);
      expect(calls(streamed('{"text": "a raw\nbreak \\" in it"}', reason))).toEqual([1, 0]);
      expect(calls(streamed("", reason))).toEqual(reason === "length" ? [0, 1] : [1, 0]);
    }
  });
});

describe("a streamed message", () => {
  const streamed = (
    calls: [id: string, args: string][],
    finish_reason = "tool_calls",
    content: AIMessageChunk["content"] = "",
  ) => {
    const tool_call_chunks = calls.map(([id, args], index) => ({ id, index, name: `tool_${index}`, args }));
    const message = new AIMessageChunk({ content, tool_call_chunks, response_metadata: { finish_reason } });
    repairCalls(message, []);
    return message;
  };
  const namesOf = (calls: readonly { name?: string }[] = []) => calls.map(({ name }) => name);

  it("runs no cut-off call with the same id as another call", () => {
    const { tool_calls } = streamed([
      ["a", '{"a":1}'],
      ["a", '{"command":"rm -rf /ho'],
    ]);
    expect(tool_calls).toEqual([]);
  });

  it("runs no cut-off call in a message with a call nested too deeply", () => {
    const { tool_calls, invalid_tool_calls } = streamed([
      ["a", `{"a":${"[".repeat(40)}${"]".repeat(40)}}`],
      ["b", '{"command":"rm -rf /ho'],
    ]);
    expect(tool_calls).toEqual([]);
    expect(new Set(namesOf(invalid_tool_calls))).toEqual(new Set(["tool_0", "tool_1"]));
  });

  it("runs no call that was cut off before its arguments", () => {
    const calls: [string, string][] = [
      ["a", ""],
      ["b", ""],
    ];
    expect(namesOf(streamed(calls, "length").tool_calls)).toEqual(["tool_0"]);
    expect(namesOf(streamed(calls).tool_calls)).toEqual(["tool_0", "tool_1"]);
  });

  it("keeps no block of a call that gets no result", () => {
    const { content } = streamed(
      [
        ["a", '{"a":1}'],
        ["b", '{"command":"rm'],
      ],
      "tool_use",
      [
        { type: "text", text: "hi" },
        { type: "tool_use", id: "a", name: "tool_0", input: '{"a":1}' },
        { type: "tool_use", id: "b", name: "tool_1", input: '{"command":"rm' },
      ],
    );
    expect((content as { id?: string }[]).map(({ id }) => id)).toEqual([undefined, "a"]);
  });
});

it("repairs what models get wrong, and nothing that may lack its end", () => {
  const whole: [string, unknown][] = [
    ["{'done': '1',}", { done: "1" }],
    ['{"todos": [{"content": "read"]}', { todos: [{ content: "read" }] }],
    ['{"done": "1"', { done: "1" }],
    ['```json\n{"done": "1"}\n```', { done: "1" }],
    ['{"todos": ["say "hi"", "it\'s"]}', { todos: ['say "hi"', "it's"] }],
    ['[{"id": 1,}]', [{ id: 1 }]],
  ];
  for (const [text, value] of whole) expect(repairJson(text)).toEqual(value);
  for (const text of ['{"todos": ["a", "b"', '{"done": "1', "{'done': '1", "", "done 1", "7"]) {
    expect(repairJson(text)).toBeUndefined();
  }
});

describe("over OpenAI's wire", () => {
  const server = new LLMock({ port: 0, host: "127.0.0.1" });
  afterEach(async () => {
    vi.restoreAllMocks();
    await server.stop();
  });

  it.each(["invoke", "stream"] as const)(
    "broken calls are repaired or asked for again, with %s",
    async (method) => {
      const script = [
        { toolCalls: [{ name: "write_todos", arguments: '{"todos": ["Look" "Report"]}' }] },
        { toolCalls: [{ name: "work", arguments: "{at: [}" }] },
        {
          toolCalls: [
            { name: "update_todos", arguments: "{'done': '1'}" },
            { name: "work", arguments: "{}" },
          ],
        },
        { content: "Reported." },
      ];
      // LangChain takes a message with broken calls only for one by an old client, and says so.
      vi.spyOn(console, "warn").mockImplementation(() => undefined);
      server.reset();
      server.on({}, () => script[server.getRequests().length]!);
      await server.start();
      const configuration = { baseURL: `${server.url}/v1` };
      const model = new ChatOpenAI({ model: "gpt-5.1", apiKey: "k", configuration, maxRetries: 0 });
      const checkpointer = new MemorySaver();
      const agent = createAgent({
        model,
        tools: [work],
        middleware: [planMiddleware({ verify: false })],
        checkpointer,
      });
      const config = { configurable: { thread_id: "t" } };
      let state: Awaited<ReturnType<typeof agent.invoke>> | undefined;
      if (method === "invoke") state = await agent.invoke(go, config);
      else {
        for await (const [mode, part] of await agent.stream(go, {
          ...config,
          streamMode: ["values", "messages"],
        })) {
          if (mode === "values") state = part;
        }
      }
      expect(state?.messages.at(-1)?.text).toBe("Reported.");
      expect(state?.todos.map(({ status }) => status)).toEqual(["completed", "completed"]);
      expect(server.getRequests()).toHaveLength(script.length);
      const saved = (await agent.graph.getState(config)).values as { messages: AIMessage[] };
      expect(saved.messages.map(({ tool_calls }) => tool_calls?.length ?? 0)).toEqual([0, 1, 0, 2, 0, 0, 0]);
    },
  );
});
