import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { clarificationMiddleware } from "../../clarification/index.ts";
import { conversationText } from "../../conversation-file/index.ts";
import { wordsText, userWords } from "./user-words.ts";

const config = { configurable: { thread_id: "t" }, recursionLimit: 200 };
const note = tool(() => "noted", { name: "note", description: "n", schema: z.looseObject({}) });
const notes = (count: number): Step[] => Array.from({ length: count }, (_, n) => callTool("note", { n }));
const FILE = "/.history/conversation.md";

describe("the record of the user's words", () => {
  it("is in every request after a summary: messages, answers, reasons and plan edits", async () => {
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["read", "build"] }),
      callTool("ask_clarification", { question: "Which currency?" }),
      callTool("delete_file", { file_path: "/date.js" }),
      callTool("note", { n: -1 }),
      ...notes(20),
      callTool("update_todos", { done: "1,2" }),
      "ok",
    ]);
    const agent = createDeepAgent({
      model,
      tools: [note],
      middleware: [clarificationMiddleware()],
      interruptOn: { delete_file: true },
      checkpointer: new MemorySaver(),
      summarization: {
        model: new ScriptedModel(["They talked."], { loop: true }),
        trigger: { messages: 12 },
        keep: { messages: 2 },
      },
    });
    const task = { messages: [new HumanMessage("Sum up the invoices.")], files: { "/date.js": "1" } };
    await agent.invoke(task as never, config);
    await agent.invoke(new Command({ resume: "EUR, but only on the total line" }) as never, config);
    const { todos } = (await agent.graph.getState(config)).values as { todos: object[] };
    const reject = { decisions: [{ type: "reject", message: "never touch date.js" }] };
    const edit = { todos: [{ ...todos[0], content: "read with a BOM" }, todos[1]] };
    await agent.invoke(new Command({ resume: reject, update: edit }) as never, config);
    const later = model.requests.slice(10);
    expect(later.length).toBeGreaterThan(10);
    const words = [
      "Sum up the invoices.",
      'in_answer_to="Which currency?"',
      "EUR, but only on the total line",
      "never touch date.js",
      'The user changed the plan: 1 has content "read with a BOM"',
    ];
    const missing = later.flatMap(({ messages }) => {
      const sent = messages.map(({ text }) => text).join("\n");
      return words.filter((one) => !sent.includes(one));
    });
    expect(missing).toEqual([]);
  });

  it("keeps the newest and first messages up to a limit, and marks the gap", () => {
    const said = Array.from(
      { length: 9 },
      (_, n) => new HumanMessage(`${n}: ${"word ".repeat(100)}END-${n}`),
    );
    const messages = said.flatMap((one) => [one, new AIMessage("well")]);
    const text = wordsText(userWords(messages), { tokens: 520, file: FILE });
    for (const n of [0, 7, 8]) expect(text).toContain(`END-${n}`);
    for (const n of [1, 2, 3, 4, 5]) expect(text).not.toContain(`END-${n}`);
    const [, count, first, last] =
      /\[(\d) of the user's messages left out here: lines (\d+) to (\d+) of/.exec(text)!;
    const lines = conversationText(messages)
      .split("\n")
      .slice(Number(first) - 1, Number(last));
    for (let n = 1; n <= Number(count); n += 1) expect(lines.join("\n")).toContain(`END-${n}`);
    expect(text.length).toBeLessThan(520 * 4 + 500);
  });

  it("uses nearly all of its space for a message that is slightly too long", () => {
    const long = new HumanMessage("word ".repeat(1000));
    const text = wordsText(userWords([long]), { tokens: 1200, file: FILE });
    expect(text.length).toBeGreaterThan(4500);
    expect(text.length).toBeLessThan(5000);
  });

  it("has the head and tail of a message that is too long, and its line numbers", () => {
    const long = new HumanMessage(`BEGIN ${"word\n".repeat(5000)} END`);
    const text = wordsText(userWords([new AIMessage("hello"), long]), { tokens: 1000, file: FILE });
    expect(text).toContain("BEGIN");
    expect(text).toContain("END");
    expect(text).toMatch(/\d+ characters left out: lines 4 to 5006 of \/\.history\/conversation\.md/);
    expect(text.length).toBeLessThan(4200);
  });

  it("contains no reminder, no summary and no tool result", () => {
    const messages: BaseMessage[] = [
      new HumanMessage({ content: "hidden", additional_kwargs: { hide_from_ui: true } }),
      new HumanMessage({ content: "old summary", additional_kwargs: { lc_source: "summarization" } }),
      new ToolMessage({ content: "a result", tool_call_id: "1" }),
    ];
    expect(userWords(messages)).toEqual([]);
  });
});
