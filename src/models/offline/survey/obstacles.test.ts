import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { afterAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../../deep/index.ts";
import type { DeepAgentOptions } from "../../../deep/options.ts";
import { diskBackend, type FileBackend } from "../../../files/index.ts";
import { workWasDone, type Todo } from "../../../index.ts";
import { OfflineModel } from "../model.ts";

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function directoryOf(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "survey-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const FOUND = "Leftover markers: 2 files\nDocuments: 0 files\nPackage manifests: 1 file\n";
const SMALL = {
  "package.json": '{"name":"small","dependencies":{"a":"1"}}',
  "a/one.ts": "// TODO one\n",
  "b/two.ts": "// TODO one\n",
};

type Options = Pick<
  DeepAgentOptions,
  "permissions" | "plan" | "without" | "summarization" | "backend" | "subagents"
>;

/** An agent on a directory, and a way to talk to it. */
async function agentOn(files: Record<string, string | Uint8Array>, options: Options = {}) {
  const folder = await directoryOf(files);
  const agent = createDeepAgent({
    model: new OfflineModel(),
    backend: diskBackend(folder, { ripgrep: false }),
    checkpointer: new MemorySaver(),
    ...options,
  });
  const config = { configurable: { thread_id: "1" } };
  const ask = async (input: string | Command | null, more: object = {}) => {
    const sent = typeof input === "string" ? { messages: [new HumanMessage(input)] } : input;
    const state = await agent.invoke(sent as never, { ...config, ...more });
    const { messages, todos = [] } = state as unknown as { messages: BaseMessage[]; todos?: Todo[] };
    return { state, messages, todos, answer: messages.at(-1)!.text };
  };
  const report = (name = "survey.md") => readFile(join(folder, name), "utf8");
  return { agent, config, ask, report, folder };
}

function statuses(todos: readonly Todo[]): string {
  return todos.map(({ id, status }) => `${id} ${status}`).join(", ");
}

function turnsIn(messages: readonly BaseMessage[]): number {
  return messages.filter((message) => AIMessage.isInstance(message)).length;
}

describe("a directory with obstacles", () => {
  it("names of all kinds", async () => {
    const odd = [
      "a b.ts",
      "ü—☃ 木.ts",
      `it's "quoted".ts`,
      "`tick`.md",
      "[x]{y}(z)*.ts",
      "p|pe.ts",
      "10:20.ts",
    ];
    const files = odd.flatMap((name) => [
      [`odd [d] "é"/${name}`, "// TODO same\n"],
      [name, `${name}\n`.repeat(5)],
    ]);
    const { ask, report } = await agentOn(Object.fromEntries(files) as Record<string, string>);
    const { answer } = await ask("Survey this directory");
    const text = await report();
    expect(answer).toContain(`Surveyed ${odd.length * 2} files in 2 folders`);
    expect(answer).toContain(`Leftover markers: ${odd.length} files`);
    expect(answer).toContain(`Largest file: it's "quoted".ts with 85 bytes.`);
    for (const name of odd.filter((each) => !each.includes("`")))
      expect(text).toContain(`- \`odd [d] "é"/${name}\`: \`1:// TODO same\``);
    expect(text).toContain("- `` `tick`.md ``: 50 bytes, 5 lines, begins with");
  });

  it("an empty directory", async () => {
    const { ask, report } = await agentOn({});
    const { answer, todos } = await ask("Please survey this folder.");
    expect(answer).toContain("Surveyed 0 files in 1 folder, 0 bytes.");
    expect(statuses(todos)).not.toMatch(/pending|in_progress/);
    expect(await report()).toContain("There are no files.");
  });

  it("a folder that the request names, or that does not exist", async () => {
    const { ask, report } = await agentOn({ ...SMALL, "a/deep/three.ts": "x\n" });
    const { answer } = await ask("Survey the folder a/");
    expect(answer).toContain("Surveyed a: 2 files in 2 folders");
    expect(await report()).toContain("# Survey of `a`\n");
    const missing = await ask("Survey /nowhere");
    expect(missing.answer).toBe('Nothing was surveyed: There is no folder "nowhere".');
    expect(statuses(missing.todos)).toMatch(/^9 blocked(, \d+ cancelled){7}$/);
  });

  it.each(["My own.\n", "# Survey\n\nWhat do you think?\n"])(
    "a survey.md of another author: %j",
    async (own) => {
      const { ask, report } = await agentOn({ ...SMALL, "survey.md": own });
      const { answer } = await ask("Survey this directory");
      expect(answer).toContain("The report is in survey-offline.md.");
      expect(await report()).toBe(own);
      expect(await report("survey-offline.md")).toContain("3 files in 3 folders");
    },
  );

  it("rules that forbid it to write or to read", async () => {
    const { ask } = await agentOn(SMALL, {
      permissions: [
        { effect: "deny", operations: ["write"], paths: "/survey.md" },
        { effect: "deny", paths: "/b" },
      ],
    });
    const { answer, todos } = await ask("Survey this directory");
    expect(answer).toContain("Surveyed 2 files in 2 folders");
    expect(answer).toContain('The report could not be written: Writing "survey.md" is not allowed');
    expect(statuses(todos)).toContain("7 blocked, 8 cancelled");
    expect(todos[6]!.note).toContain("is not allowed");
    const again = await ask("Survey again");
    expect(statuses(again.todos)).toContain("9 completed, 10 completed");
    expect(statuses(again.todos)).toContain("15 blocked, 16 cancelled");
  });

  it("searches that fail", async () => {
    const folder = await directoryOf(SMALL);
    const broken: FileBackend = {
      ...diskBackend(folder),
      grep: async () => ({ ok: false, error: "The disk is tired." }),
    };
    const { ask } = await agentOn({}, { backend: broken });
    const { answer, todos } = await ask("Survey this directory");
    expect(answer).toContain("Leftover markers: Not searched: The disk is tired.");
    expect(answer).toContain("The report is in survey.md.");
    expect(statuses(todos)).not.toMatch(/pending|in_progress/);
  });

  it("more folders than a survey lists, and folders of generated files", async () => {
    const many = Array.from({ length: 210 }, (_, at) => [`a/part-${at}/x.ts`, "x\n"] as const);
    const { ask, report } = await agentOn({ ...Object.fromEntries(many), "dist/x.js": "// TODO\n" });
    const { answer } = await ask("Survey this directory");
    expect(answer).toContain("Surveyed 200 files in 202 folders, 400 bytes.");
    expect(answer).toContain("Leftover markers: 0 files");
    expect(answer).toContain("Left out: 10 folders not listed.");
    expect(await report()).toContain("- 10 folders not listed");
  });
});

describe("a survey with user input", () => {
  it("ends politely when the plan is rejected", async () => {
    const { ask } = await agentOn(SMALL, { plan: { approval: "first" } });
    await ask("Survey this directory");
    const { answer, messages } = await ask(new Command({ resume: { type: "reject", reason: "not now" } }));
    expect(answer).toBe("Nothing was surveyed. The user rejected this plan: not now. It was not applied.");
    expect(turnsIn(messages)).toBe(2);
  });

  it("leaves out items that the user removed, and blocks items that it cannot do", async () => {
    const { ask, report } = await agentOn(SMALL, { plan: { approval: "first" } });
    const asked = await ask("Survey this directory");
    const proposed = (asked.state as unknown as { __interrupt__: { value: { todos: Todo[] } }[] })
      .__interrupt__[0]!.value.todos;
    const kept = proposed
      .filter(({ id }) => id !== "4")
      .map((todo) => ({ ...todo, dependsOn: todo.dependsOn?.filter((id) => id !== "4") ?? [] }));
    const todos = [...kept, { content: "Make coffee" }];
    const { answer, todos: done } = await ask(new Command({ resume: { type: "edit", todos } }));
    expect(answer).toContain("Left out: Find leftover markers (it is not in the plan any more).");
    expect(await report()).toContain("- Find leftover markers (it is not in the plan any more)");
    expect(done.find(({ content }) => content === "Make coffee")).toMatchObject({ status: "blocked" });
    expect(statuses(done)).not.toMatch(/pending|in_progress/);
  });

  it.each([
    ["resumed", null],
    ["asked to go on", "Go on, please"],
  ])("leaves out an item cancelled between two runs when the survey is %s", async (_, input) => {
    const { agent, config, ask, report } = await agentOn(SMALL);
    await expect(ask("Survey this directory", { recursionLimit: 5 })).rejects.toThrow("Recursion limit");
    const { values } = await agent.graph.getState(config);
    const { todos } = values as { todos: Todo[] };
    expect(todos[4]).toMatchObject({ id: "5", status: "pending" });
    await agent.graph.updateState(config, {
      todos: todos.map((todo) => (todo.id === "5" ? { ...todo, status: "cancelled" } : todo)),
    });
    const { answer, todos: done } = await ask(input);
    expect(answer).toContain("Left out: Read the titles of documents (it was cancelled in the plan).");
    expect(await report()).toContain("- Read the titles of documents (it was cancelled in the plan)");
    expect(statuses(done)).toBe(
      "1 completed, 2 completed, 3 completed, 4 completed, 5 cancelled, 6 completed, 7 completed, 8 completed",
    );
  });

  it("starts again on a second request", async () => {
    const { ask, folder, report } = await agentOn(SMALL);
    await ask("Survey this directory");
    await writeFile(join(folder, "more.md"), "More.\n");
    const { answer, todos, messages } = await ask("Survey again");
    expect(answer).toContain("4 files in 3 folders");
    expect(await report()).toContain("4 files in 3 folders");
    expect(todos).toHaveLength(8);
    expect(
      messages.filter((message) => ToolMessage.isInstance(message) && message.status === "error"),
    ).toEqual([]);
    const other = await ask("Thank you");
    expect(other.answer).toContain("HOLDFAST_MODEL");
  });
});

describe("a survey in another harness", () => {
  it("works without plan and sub-agents", async () => {
    const { ask, report } = await agentOn(SMALL, { plan: false, without: ["SubagentsMiddleware"] });
    const { answer } = await ask("Survey this directory");
    expect(answer).toContain(FOUND);
    expect(await report()).toContain("3 files in 3 folders");
  });

  it("says which part a sub-agent failed at", async () => {
    const broken = {
      name: "general-purpose",
      description: "breaks",
      runnable: { invoke: async () => Promise.reject(new Error("out of order")) },
    };
    const { ask, report } = await agentOn(SMALL, { subagents: [broken] });
    const { answer, todos } = await ask("Survey this directory");
    expect(await report()).toMatch(
      /- Find leftover markers \(the sub-agent "general-purpose" \(t\d\) failed: out of order\)/,
    );
    expect(answer).toContain("The report is in survey.md.");
    expect(statuses(todos)).toBe(
      "1 completed, 2 completed, 3 completed, 4 blocked, 5 blocked, 6 blocked, 7 completed, 8 completed",
    );
  });

  it("passes a verifier that wants work to be done", async () => {
    const { ask } = await agentOn(SMALL, { plan: { verify: workWasDone() } });
    const { todos, answer } = await ask("Survey this directory");
    expect(statuses(todos)).not.toMatch(/pending|in_progress/);
    expect(answer).toContain("The report is in survey.md.");
  });

  it("says so when the conversation was summarized", async () => {
    const { ask } = await agentOn(SMALL, {
      summarization: { trigger: { messages: 12 }, keep: { messages: 4 } },
    });
    const { answer, messages, todos } = await ask("Survey this directory");
    expect(answer).toContain("summarized");
    expect(statuses(todos)).not.toMatch(/pending|in_progress/);
    expect(turnsIn(messages)).toBeLessThan(20);
  });
});
