import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { filesMiddleware } from "../files/index.ts";
import { planMiddleware } from "../plan/index.ts";
import { refusedCalls, withoutRefusedTexts } from "./refused-texts.ts";
import { UNFINISHED } from "./result-marks.ts";

const LONG = "a line that was never in the file\n".repeat(40);
const PLAN = Array.from({ length: 12 }, (_, n) => ({ content: `step ${n} of a plan`, dependsOn: ["99"] }));
const EDIT = { file_path: "/f0.txt", old_string: LONG, new_string: `${LONG}more` };
const files = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => [`/f${n}.txt`, `file ${n} word ${"word ".repeat(600)}`]),
);
const reads = (from: number, to: number): Step[] =>
  Array.from({ length: to - from }, (_, n) => callTool("read_file", { file_path: `/f${from + n}.txt` }));
const go = { messages: [new HumanMessage({ content: "the task", id: "task" })], files } as never;

/** The messages of a request with the arguments of their calls. */
const wire = (messages: readonly BaseMessage[]): string[] =>
  messages.map((message) =>
    [message.type, message.text, JSON.stringify((message as AIMessage).tool_calls ?? [])].join(" "),
  );
const sent = (model: ScriptedModel): string[][] => model.requests.map(({ messages }) => wire(messages));
/** Those that the next request has to begin with: up to the last result, as reminders come after it. */
const lasting = (request: readonly string[]): string[] =>
  request.slice(0, request.findLastIndex((line) => line.startsWith("tool ")) + 1);

/** The numbers of requests that do not begin with what the one before them had. */
const breaks = (requests: readonly string[][]): number[] =>
  requests.flatMap((request, at) => {
    const before = at === 0 ? [] : lasting(requests[at - 1]!);
    return JSON.stringify(request.slice(0, before.length)) === JSON.stringify(before) ? [] : [at];
  });
/** The numbers of requests that have a text. */
const having = (requests: readonly string[][], text: string): number[] =>
  requests.flatMap((request, at) =>
    request.join("\n").includes(JSON.stringify(text).slice(1, -1)) ? [at] : [],
  );

describe("the text of a refused call", () => {
  it("is shown once, at the end of the next request, and earlier text stays the same", async () => {
    const write = callTool("write_file", { file_path: "/done.md", content: `kept ${LONG}` });
    const model = new ScriptedModel([
      ...reads(0, 1),
      [callTool("edit_file", EDIT), callTool("write_todos", { todos: PLAN }), write],
      [callTool("edit_file", { file_path: "/f0.txt", old_string: "file 0", new_string: "file zero" })],
      callTool("write_todos", { todos: [{ content: "a step" }] }),
      ...reads(1, 4),
      "ok",
    ]);
    const { messages } = await createDeepAgent({ model }).invoke(go, { recursionLimit: 200 });
    expect(messages.filter(({ type }) => type === "tool").slice(1, 4)).toMatchObject([
      { name: "edit_file", status: "error" },
      { name: "write_todos", status: "error" },
      { name: "write_file", status: "success" },
    ]);
    const requests = sent(model);
    // The list is shown once more: the model has corrected the edit first.
    expect(having(requests, EDIT.new_string)).toEqual([2]);
    expect(having(requests, JSON.stringify(PLAN).slice(0, 300))).toEqual([]);
    expect(requests.map((request) => request.join("").includes(JSON.stringify(PLAN)))).toEqual(
      requests.map((_, at) => at === 2 || at === 3),
    );
    expect(requests[2]!.filter((line) => line.includes(JSON.stringify(EDIT.new_string)))).toEqual([
      requests[2]!.find((line) => line.startsWith("human <system_reminder>") && line.includes("edit_file {")),
    ]);
    expect(requests[5]!.join("\n")).toContain(
      `"file_path":"/f0.txt","old_string":"[${LONG.length} characters, refused]"`,
    );
    expect(breaks(requests)).toEqual([]);
    // Accepted texts, and all of the thread's messages, stay as the model wrote them.
    expect(having(requests, `kept ${LONG}`)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(having([wire(messages)], EDIT.new_string)).toEqual([0]);
  });

  it("is shown a second time to a model that looks first, and then no more", async () => {
    const model = new ScriptedModel([callTool("edit_file", EDIT), ...reads(0, 4), "ok"]);
    await createDeepAgent({ model, plan: false }).invoke(go);
    expect(having(sent(model), EDIT.new_string)).toEqual([1, 2]);
    expect(breaks(sent(model))).toEqual([]);
  });

  it.each([
    [
      "planMiddleware",
      () => planMiddleware(),
      callTool("write_todos", { todos: PLAN }),
      JSON.stringify(PLAN),
    ],
    [
      "filesMiddleware",
      () => filesMiddleware(),
      callTool("edit_file", EDIT),
      JSON.stringify(EDIT.new_string),
    ],
  ] as const)("goes with %s alone, too", async (_name, middleware, call, text) => {
    const model = new ScriptedModel([call, "ok", "ok", "ok"]);
    const agent = createAgent({ model, middleware: [middleware()], checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke(go, config);
    await agent.invoke({ messages: [new HumanMessage("and now?")] } as never, config);
    const has = sent(model).map((request) => request.join("\n").includes(text));
    expect(has.slice(0, 3)).toEqual([false, true, false]);
  });

  it("stays where the call was stopped, and may have had its effect", () => {
    const text = "x".repeat(1000);
    const call = { id: "c1", name: "write_file", args: { file_path: "/a", content: text } };
    const result = { name: call.name, tool_call_id: call.id, status: "error" as const, content: "No." };
    const turn = new AIMessage({ content: "", tool_calls: [call] });
    const after = (artifact: object | undefined): BaseMessage[] => [
      turn,
      new ToolMessage({ ...result, artifact }),
    ];
    expect(JSON.stringify(withoutRefusedTexts(after(UNFINISHED))[0])).toContain(text);
    expect(refusedCalls(after(UNFINISHED), ["write_file"])).toEqual([]);
    expect(wire(withoutRefusedTexts(after(undefined)))[0]).not.toContain(text);
    const once = withoutRefusedTexts(after(undefined));
    expect(withoutRefusedTexts(once)).toEqual(once);
  });
});

describe("a write that Holdfast withholds", () => {
  const mine = "mine, and long enough\n".repeat(40);
  const write = callTool("write_file", { file_path: "/f0.txt", content: mine });
  const confirm = (more: object = {}): Step =>
    callTool("write_file", { file_path: "/f0.txt", confirm: true, ...more });

  it("is in no later request, summary or process until the model confirms it", async () => {
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" }, recursionLimit: 200 };
    const summaries: string[][] = [];
    const agentOn = (steps: Step[]): { model: ScriptedModel; agent: ReturnType<typeof createDeepAgent> } => {
      const model = new ScriptedModel(steps);
      const writer = new ScriptedModel(
        Array.from({ length: 9 }, (): Step => ({ messages }) => {
          summaries.push(wire(messages));
          return "They talked.";
        }),
      );
      const summarization = { model: writer, trigger: { messages: 9 }, keep: { messages: 4 } };
      return { model, agent: createDeepAgent({ model, plan: false, checkpointer, summarization }) };
    };
    const first = agentOn([write, ...reads(1, 8), "ok"]);
    await first.agent.invoke(go, config);
    expect(summaries.length).toBeGreaterThan(1);
    expect(having(summaries, mine)).toEqual([]);
    const second = agentOn([...reads(8, 12), confirm(), ...reads(12, 13), "ok"]);
    const { files: after } = (await second.agent.invoke(
      { messages: [new HumanMessage("go on")] },
      config,
    )) as { files?: Record<string, string> };
    expect(after?.["/f0.txt"]).toBe(mine);
    expect(having(sent(first.model), mine)).toEqual([]);
    // The call that wrote it has it.
    expect(having(sent(second.model), mine)).toEqual([5, 6]);
  });

  it("is not in a summary request that is the next turn of the conversation", async () => {
    const model = new ScriptedModel([write, ...reads(1, 4), "They talked.", "ok"]);
    const summarization = { trigger: { messages: 9 }, keep: { messages: 4 } };
    await createDeepAgent({ model, plan: false, summarization }).invoke(go);
    const requests = sent(model);
    expect(requests[4]!.at(-1)).toContain("This is Holdfast, not the user.");
    expect(breaks(requests.slice(0, 5))).toEqual([]);
    expect(having(requests, mine)).toEqual([]);
  });

  it("is confirmed also by a model that copies the note, and the note is never written", async () => {
    const note = `[${mine.length} characters, refused]`;
    const copied = { file_path: "/f0.txt", content: note };
    const model = new ScriptedModel([
      write,
      callTool("write_file", copied),
      callTool("edit_file", { file_path: "/f1.txt", old_string: "file 1", new_string: note }),
      confirm({ content: note }),
      "ok",
    ]);
    const agent = createDeepAgent({ model, plan: false });
    const { messages, files: after } = (await agent.invoke(go)) as {
      messages: BaseMessage[];
      files: Record<string, string>;
    };
    const results = messages.filter((message) => ToolMessage.isInstance(message));
    expect(results.map(({ status }) => status)).toEqual(["error", "error", "error", "success"]);
    expect(results[1]!.text).toContain(
      "content: is only the note in the place of a refused text; send the text",
    );
    expect(after["/f0.txt"]).toBe(mine);
  });
});
