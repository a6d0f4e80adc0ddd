import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { UNFINISHED } from "../../tools/result-marks.ts";
import { withoutRefusedTexts } from "./refused.ts";

const LONG = "a line that was never in the file\n".repeat(40);
const PLAN = Array.from({ length: 12 }, (_, n) => ({ content: `step ${n} of a plan`, dependsOn: ["99"] }));
const files = Object.fromEntries(
  Array.from({ length: 14 }, (_, n) => [`/f${n}.txt`, `file ${n} word ${"word ".repeat(600)}`]),
);
const reads = (from: number, to: number): Step[] =>
  Array.from({ length: to - from }, (_, n) => callTool("read_file", { file_path: `/f${from + n}.txt` }));

/** A request with the arguments of its calls. */
const wire = ({ messages }: { messages: BaseMessage[] }): string[] =>
  messages.map((message) =>
    [message.type, message.text, JSON.stringify((message as AIMessage).tool_calls ?? [])].join(" "),
  );

it("texts that were refused go at the marks where old results go, and a line says so", async () => {
  const edit = { file_path: "/f0.txt", old_string: LONG, new_string: `${LONG}more` };
  const write = callTool("write_file", { file_path: "/done.md", content: `kept ${LONG}` });
  const model = new ScriptedModel([
    ...reads(0, 1),
    [callTool("edit_file", edit), callTool("write_todos", { todos: PLAN }), write],
    ...reads(1, 14),
    "ok",
  ]);
  const writer = new ScriptedModel(["They talked."], { loop: true });
  const summarization = { model: writer, trigger: { tokens: 9000 }, keep: { tokens: 2000 } };
  const agent = createDeepAgent({ model, summarization });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("the task")], files } as never, {
    recursionLimit: 200,
  });
  expect(messages.filter(({ type }) => type === "tool").slice(1, 3)).toMatchObject([
    { name: "edit_file", status: "error" },
    { name: "write_todos", status: "error" },
  ]);
  expect(writer.requests).toEqual([]);
  const [next, last] = [wire(model.requests[2]!).join("\n"), wire(model.requests.at(-1)!).join("\n")];
  const refused = [JSON.stringify(edit.new_string), JSON.stringify(PLAN)];
  for (const text of refused) {
    expect(next).toContain(text);
    expect(last).not.toContain(text);
    expect(wire({ messages }).join("\n")).toContain(text);
  }
  expect(last).toContain(
    `"file_path":"/f0.txt","old_string":"[Left out to save room: ${LONG.length} characters. Nothing came of this call`,
  );
  // What was written stays as the model wrote it.
  expect(last).toContain(JSON.stringify(`kept ${LONG}`));
  const breaks = model.requests.slice(1).filter((request, at) => {
    const before = wire(model.requests[at]!);
    return JSON.stringify(wire(request).slice(0, before.length)) !== JSON.stringify(before);
  });
  expect(breaks.length).toBeLessThan(5);
});

it.each([
  ["that was stopped, and may have had its effect,", UNFINISHED],
  ["whose write was held back, and is cut elsewhere,", { held: true }],
])("the text of a call %s stays", (_name, artifact) => {
  const text = "x".repeat(1000);
  const call = { id: "c1", name: "write_file", args: { file_path: "/a", content: text } };
  const result = { name: call.name, tool_call_id: call.id, status: "error" as const, content: "No." };
  const turn = new AIMessage({ content: "", tool_calls: [call] });
  const after = (mark: object | undefined) =>
    JSON.stringify(withoutRefusedTexts([turn, new ToolMessage({ ...result, artifact: mark })], 1)[0]);
  expect(after(artifact)).toContain(text);
  expect(after(undefined)).not.toContain(text);
});
