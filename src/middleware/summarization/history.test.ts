import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { diskBackend, shellBackend } from "../../files/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";

const config = { configurable: { thread_id: "t" } };
const go = { messages: [new HumanMessage("the task: mind the GIRAFFE")] };
const note = tool(() => "noted", { name: "note", description: "n", schema: z.object({}) });
const FILE = "/.history/conversation.md";
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-history-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

function agentOf(steps: Step[], summarizer = new ScriptedModel(["They talked."], { loop: true })) {
  const model = new ScriptedModel(steps);
  const agent = createDeepAgent({
    model,
    tools: [note],
    plan: false,
    backend: diskBackend(dir),
    checkpointer: new MemorySaver(),
    summarization: { model: summarizer, trigger: { messages: 4 }, keep: { messages: 2 } },
  });
  return { agent, model, summarizer };
}

it("the conversation is a file that the agent reads by name and finds nowhere else", async () => {
  const calls = [
    callTool("read_file", { file_path: FILE, limit: 2 }),
    callTool("grep", { pattern: "GIRAFFE", path: FILE }),
    callTool("grep", { pattern: "GIRAFFE" }),
    callTool("glob", { pattern: "**" }),
    callTool("ls", { path: "/" }),
    callTool("ls", { path: "/.history" }),
    callTool("grep", { pattern: "GIRAFFE", path: "/.history", output: "files" }),
    callTool("glob", { pattern: "/.history/*" }),
    callTool("write_file", { file_path: FILE, content: "x" }),
    callTool("delete_file", { file_path: FILE }),
  ];
  const { agent } = agentOf([callTool("note"), callTool("note"), calls, "ok"]);
  const { messages } = await agent.invoke(go, config);
  const replies = messages.filter(({ type }) => type === "tool").slice(2);
  expect(replies.map(({ text }) => text)).toEqual([
    expect.stringContaining("the task: mind the GIRAFFE"),
    expect.stringContaining("the task: mind the GIRAFFE"),
    expect.not.stringContaining("the task"),
    expect.not.stringContaining("history"),
    expect.not.stringContaining("history"),
    FILE,
    FILE,
    FILE,
    expect.stringContaining("The conversation is read-only."),
    expect.stringContaining("The conversation is read-only."),
  ]);
  expect(readdirSync(dir)).toEqual([]);
});

it("a project's own files in that folder stay as they are", async () => {
  mkdirSync(join(dir, ".history"));
  writeFileSync(join(dir, ".history/notes.md"), "an OKAPI\n");
  const calls = [
    callTool("ls", { path: "/.history" }),
    callTool("read_file", { file_path: "/.history/notes.md" }),
    callTool("grep", { pattern: "OKAPI", path: "/.history", output: "files" }),
    callTool("glob", { pattern: "/.history/*" }),
    callTool("write_file", { file_path: "/.history/other.md", content: "x" }),
  ];
  const { agent } = agentOf([callTool("note"), callTool("note"), calls, "ok"]);
  const { messages } = await agent.invoke(go, config);
  const replies = messages.filter(({ type }) => type === "tool").slice(2);
  expect(replies.map(({ text }) => text)).toEqual([
    `${FILE}\n/.history/notes.md`,
    expect.stringContaining("an OKAPI"),
    // The conversation ends before the message that asks for it.
    "/.history/notes.md",
    `${FILE}\n/.history/notes.md`,
    "Created /.history/other.md.",
  ]);
});

it("a project may have its own file of that name when nothing was summarized", async () => {
  mkdirSync(join(dir, ".history"));
  writeFileSync(join(dir, FILE), "the project's own\n");
  const model = new ScriptedModel([callTool("read_file", { file_path: FILE }), "ok"]);
  const agent = createDeepAgent({ model, plan: false, backend: diskBackend(dir), summarization: false });
  const { messages } = await agent.invoke(go);
  expect(messages.find(({ type }) => type === "tool")!.text).toContain("the project's own");
});

it("a summary is paid for once, however often the model fails after it", async () => {
  const overloaded = new Error("overloaded");
  const { agent, model, summarizer } = agentOf([
    callTool("note"),
    callTool("note"),
    overloaded,
    overloaded,
    "ok",
  ]);
  await expect(agent.invoke(go, config)).rejects.toThrow("overloaded");
  await expect(agent.invoke(null as never, config)).rejects.toThrow("overloaded");
  await agent.invoke(null as never, config);
  expect(summarizer.requests).toHaveLength(1);
  expect(model.requests.at(-1)!.messages[1]!.text).toContain("They talked.");
});

it("an agent without file tools gets no mention of the history file", async () => {
  const model = new ScriptedModel([callTool("note"), callTool("note"), "ok"]);
  const agent = createDeepAgent({
    model,
    tools: [note],
    plan: false,
    without: ["FilesMiddleware", "SubagentsMiddleware"],
    summarization: {
      model: new ScriptedModel(["They talked."], { loop: true }),
      trigger: { messages: 4 },
      keep: { messages: 2 },
    },
  });
  await agent.invoke(go);
  const { text } = model.requests.at(-1)!.messages[1]!;
  expect(text).toContain("They talked.");
  expect(text).not.toContain("conversation.md");
});

it.each([
  { options: {}, isShell: true, words: ["search it with the grep tool", "Commands do not see it."] },
  { options: {}, isShell: false, words: ["search it with the grep tool"] },
  { options: { fileTools: ["ls" as const, "read_file" as const] }, isShell: true, words: [] },
])(
  "the pointer to the file names only tools that the agent has: $words",
  async ({ options, isShell, words }) => {
    const model = new ScriptedModel([callTool("note"), callTool("note"), "ok"]);
    const agent = createDeepAgent({
      model,
      tools: [note],
      plan: false,
      backend: isShell ? shellBackend(dir) : diskBackend(dir),
      ...options,
      summarization: {
        model: new ScriptedModel(["They talked."], { loop: true }),
        trigger: { messages: 4 },
        keep: { messages: 2 },
      },
    });
    await agent.invoke(go);
    const { text } = model.requests.at(-1)!.messages[1]!;
    expect(text).toContain(FILE);
    const all = ["search it with the grep tool", "Commands do not see it."];
    expect(all.filter((part) => text.includes(part))).toEqual(words);
  },
);
