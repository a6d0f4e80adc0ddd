import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { concat } from "@langchain/core/utils/stream";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import type { Call } from "./conversation.ts";
import { answerTo, folderIn, OfflineModel } from "./model.ts";

const TOOLS = ["ls", "glob", "grep", "read_file", "write_file", "write_todos", "update_todos", "task"];
const bound = () =>
  new OfflineModel().bindTools(
    TOOLS.map((name) => tool(() => "", { name, description: name, schema: z.object({}) })),
  );
const ask = [new HumanMessage("Survey this directory")];

describe("the offline model", () => {
  it("declines a task that is not a survey, makes no plan, and says how to set a model", async () => {
    const { messages } = await createDeepAgent({ model: new OfflineModel() }).invoke({
      messages: [new HumanMessage("Write me a poem")],
    });
    expect(messages).toHaveLength(2);
    const answer = messages[1]!.text;
    expect(answer).toContain("`offline`, not a language model");
    for (const word of [
      'holdfast run "Survey this directory"',
      "HOLDFAST_MODEL",
      "`openai:gpt-5.1` with OPENAI_API_KEY",
      "`anthropic:claude-sonnet-5` with ANTHROPIC_API_KEY",
      "`ollama:qwen3`",
    ]) {
      expect(answer).toContain(word);
    }
  });

  it("calls that a refusal, which completes no item and is not asked again", async () => {
    const poem = [new HumanMessage("Write me a poem")];
    const refusal = { model_name: "offline", finish_reason: "refusal" };
    expect((await bound().invoke(poem)).response_metadata).toEqual(refusal);
    const chunks: AIMessageChunk[] = [];
    for await (const chunk of await bound().stream(poem)) chunks.push(chunk);
    expect(chunks.reduce((sum, chunk) => concat(sum, chunk)).response_metadata).toEqual(refusal);

    const open = [{ id: "1", content: "Write a poem", status: "in_progress" as const }];
    const agent = createDeepAgent({ model: new OfflineModel() });
    const { messages, todos } = await agent.invoke({ messages: poem, todos: open } as never);
    expect(messages).toHaveLength(2);
    expect(messages[1]!.response_metadata).toMatchObject(refusal);
    expect(todos).toMatchObject(open);
  });

  it("says which tools it misses", async () => {
    const answer = await new OfflineModel().invoke(ask);
    expect(answer.text).toContain("ls, glob, grep, read_file, write_file are not there");
  });

  it("gives the same answer to the same request, with a name and a count of tokens", async () => {
    const [one, other] = [await bound().invoke(ask), await bound().invoke(ask)];
    expect(other.id).toBe(one.id);
    expect(other.tool_calls).toEqual(one.tool_calls);
    expect(new OfflineModel()._llmType()).toBe("offline");
    expect(one.response_metadata).toEqual({ model_name: "offline" });
    const { input_tokens, output_tokens, total_tokens } = one.usage_metadata!;
    const said = JSON.stringify(one.tool_calls![0]!.args).length + "write_todos".length;
    expect(output_tokens).toBe(Math.ceil(said / 4));
    expect(total_tokens).toBe(input_tokens + output_tokens);
    const longer = await bound().invoke([new HumanMessage(`Survey this directory${" ".repeat(400)}`)]);
    expect(longer.usage_metadata).toMatchObject({ input_tokens: input_tokens + 100 });
  });

  it("streams words and calls that add up to the whole answer", async () => {
    const words: string[] = [];
    for await (const chunk of await new OfflineModel().stream([new HumanMessage("hi")]))
      words.push(chunk.text);
    const whole = await new OfflineModel().invoke([new HumanMessage("hi")]);
    expect(words.join("")).toBe(whole.text);
    expect(words.length).toBeGreaterThan(20);

    let message: AIMessageChunk | undefined;
    for await (const chunk of await bound().stream(ask)) {
      message = message ? concat(message, chunk) : chunk;
    }
    const { tool_calls, usage_metadata, id } = await bound().invoke(ask);
    expect(message!.tool_calls).toEqual(tool_calls);
    expect(message).toMatchObject({ id, usage_metadata });
  });

  it("is heard word by word through an agent, sub-agents and all", async () => {
    const agent = createDeepAgent({ model: new OfflineModel() });
    const files = { "/a/one.md": "# One\n", "/b/one.md": "# One\n" };
    const words: string[] = [];
    let calls = 0;
    const stream = await agent.stream({ messages: ask, files }, { streamMode: "messages" });
    for await (const [chunk] of stream) {
      if (!AIMessageChunk.isInstance(chunk)) continue;
      calls += chunk.tool_call_chunks?.length ?? 0;
      words.push(chunk.text);
    }
    expect(words.join("")).toContain("Surveyed 2 files in 3 folders, 12 bytes.");
    expect(words.filter(Boolean).length).toBeGreaterThan(20);
    expect(calls).toBeGreaterThan(20);
  });

  it.each([
    ["before it answers", { thinkMs: 600_000 }],
    ["between words", { wordMs: 600_000 }],
  ])("can be aborted %s", async (_, pace) => {
    const controller = new AbortController();
    const model = new OfflineModel({ pace });
    const read = async (): Promise<void> => {
      for await (const _chunk of await model.stream([new HumanMessage("hi")], { signal: controller.signal }));
    };
    const reading = read();
    controller.abort();
    await expect(reading).rejects.toThrow(/abort/i);
  });
});

describe("an answer", () => {
  const turn = (name: string, args: object, result: string): BaseMessage[] => [
    new AIMessage({ content: "", tool_calls: [{ name, args: { ...args }, id: "1" }] }),
    new ToolMessage({ content: result, tool_call_id: "1", status: "error" }),
  ];

  it("is the same calls again when the run was interrupted", () => {
    const [first] = answerTo(ask, TOOLS) as Call[];
    const interrupted = turn(
      "write_todos",
      {},
      "Not finished: the run was interrupted before this call returned.",
    );
    expect((answerTo([...ask, ...interrupted], TOOLS) as Call[])[0]).toEqual(first);
  });

  it("is an end after very many turns", () => {
    const turns = Array.from({ length: 401 }, (_, at) => turn("ls", { path: `/${at}` }, "Error: no."));
    expect(answerTo([...ask, ...turns.flat()], TOOLS)).toBe("I stopped after 400 turns.");
  });

  it("continues without a plan when the plan is refused", () => {
    const refused = turn("write_todos", {}, "Error: Max 5 todos allowed; this would make 8.");
    expect(answerTo([...ask, ...refused], TOOLS)).toEqual([{ name: "ls", args: { path: "/", sizes: true } }]);
  });
});

it.each([
  ["Survey this directory", "/"],
  ["Survey this directory, please", "/"],
  ["Survey the current directory and write TODO/FIXME lines down", "/"],
  ["Survey .", "/"],
  ["survey /src", "/src"],
  ["Survey src/files/.", "/src/files"],
  ["Please survey the folder src/", "/src"],
  ["Survey the folder src.", "/src"],
  ["Survey of the directory `my files/a b`", "/my files/a b"],
  ["I want you surveying .github!", "/.github"],
])("%s names the folder %s", (request, folder) => {
  expect(folderIn(request)).toBe(folder);
});
