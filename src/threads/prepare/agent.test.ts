import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { afterAll, describe, expect, it } from "vitest";
import { isIsolated } from "../../files/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { createRunAgent } from "./agent.ts";
import { isolationNotice } from "./isolation.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "./settings.ts";

const dir = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-run-")));
afterAll(() => rmSync(dir, { recursive: true }));

async function run(steps: Step[], settings: Partial<RunSettings>, checkpointer?: BaseCheckpointSaver) {
  const model = new ScriptedModel(steps);
  const agent = createRunAgent({
    settings: { ...DEFAULT_SETTINGS, model: "scripted", ...settings },
    model,
    checkpointer: checkpointer ?? new MemorySaver(),
  });
  const config = { configurable: { thread_id: "t" } };
  const input = { messages: [new HumanMessage("go")] };
  const { messages } = (await agent.graph.invoke(input as never, config)) as { messages: BaseMessage[] };
  const replies = messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
  return { system: model.requests.at(-1)!.messages[0]!.text, replies };
}

describe("an agent in a directory", () => {
  it("knows where its files are and its commands run", async () => {
    const { system, replies } = await run([callTool("execute", { command: "pwd" }), "ok"], {
      dir,
      shell: true,
      mode: "auto",
    });
    expect(replies[0]).toContain(dir);
    expect(system).toContain(`/ is ${dir} for the file tools. Commands start there`);
    expect(system).not.toContain("/notes/plan.md");
    expect((await run(["ok"], { dir })).system).not.toContain(dir);
  });

  it("asks nothing when no user can answer, and its prompt says so", async () => {
    const tools = async (canAsk: boolean, mode: "auto" | "ask") => {
      const model = new ScriptedModel(["ok"]);
      const settings = { ...DEFAULT_SETTINGS, model: "scripted", mode };
      const agent = createRunAgent({ settings, model, checkpointer: new MemorySaver(), canAsk });
      const input = { messages: [new HumanMessage("go")] };
      await agent.graph.invoke(input as never, { configurable: { thread_id: "t" } });
      const [{ messages, tools: shown }] = model.requests as [(typeof model.requests)[0]];
      return { canAsk: JSON.stringify(shown).includes("ask_clarification"), system: messages[0]!.text };
    };
    const alone = await tools(false, "auto");
    expect(alone.canAsk).toBe(false);
    expect(alone.system).toContain("No one can answer questions");
    expect((await tools(true, "auto")).canAsk).toBe(true);
    expect((await tools(false, "ask")).canAsk).toBe(true);
  });

  it("does not touch the file that stores its threads, in any folder", async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-state-")));
    const saver = await sqliteSaver(join(home, "odd [1]", "threads.db"));
    const { replies } = await run(
      [
        [
          callTool("ls", { path: "/odd [1]" }),
          callTool("grep", { pattern: "SQLite", output_mode: "files_with_matches" }),
          callTool("read_file", { file_path: "/odd [1]/threads.db-wal" }),
          callTool("delete_file", { file_path: "/odd [1]" }),
        ],
        "ok",
      ],
      { dir: home, mode: "auto" },
      saver,
    );
    expect(replies.slice(0, 2).join()).not.toContain("threads.db");
    expect(replies[2]).toContain("is not allowed");
    expect(replies[3]).toContain("was not deleted");
    saver.close();
    rmSync(home, { recursive: true });
  });

  it("tells its helpers the same", async () => {
    const job = callTool("task", { description: "look", subagent_type: "general-purpose" });
    const systems: string[] = [];
    const look = ({ messages }: { messages: { text: string }[] }): string => {
      systems.push(messages[0]!.text);
      return "seen";
    };
    await run([job, look, "ok"], { dir, shell: true });
    expect(systems[0]).toContain(`/ is ${dir} for the file tools`);
  });

  it("finds and makes its files by their addresses on the host", async () => {
    const file_path = join(dir, "src/a.ts");
    const { replies } = await run(
      [
        callTool("write_file", { file_path, content: "let a;\n" }),
        callTool("execute", { command: `cat ${file_path}` }),
        callTool("read_file", { file_path: "/src/a.ts" }),
        "ok",
      ],
      { dir, shell: true, mode: "auto" },
    );
    expect(replies[0]).toBe("Created /src/a.ts.");
    for (const reply of replies.slice(1)) expect(reply).toContain("let a;");
    expect(readdirSync(dir)).toEqual(["src"]);
  });

  it.each([
    [true, true],
    [false, true],
    [false, false],
  ])(
    "does not write files that git and agents run (commands: %s, consent to all: %s)",
    async (shell, isAuto) => {
      const places = [
        "/.git/hooks/pre-commit",
        "/.mcp.json",
        "/sub/.claude/skills/x/SKILL.md",
        "/.Agents/skills/x",
      ];
      const calls = places.map((file_path) => callTool("write_file", { file_path, content: "x" }));
      const { replies } = await run([calls, "ok"], { dir, shell, mode: isAuto ? "auto" : undefined });
      for (const [at, place] of places.entries()) {
        expect(replies[at]).toContain(`Writing "${place}" is not allowed`);
      }
      expect(readdirSync(dir)).toEqual(["src"]);
    },
  );

  it("warns the user where commands are not isolated, and says if each needs consent", () => {
    const notice = (settings: Partial<RunSettings>) => isolationNotice({ shell: true, ...settings });
    expect(notice({ shell: false, sandbox: "never" })).toBeUndefined();
    expect(notice({ sandbox: "never" })).toMatch(/with your rights, and each is asked for/);
    expect(notice({ sandbox: "never", mode: "auto" })).toMatch(/none is asked for/);
    expect(notice({}) === undefined).toBe(isIsolated());
  });
});

it("a message written into a thread adds only that message, not the existing state", async () => {
  const checkpointer = new MemorySaver();
  const agent = createRunAgent({
    settings: { ...DEFAULT_SETTINGS, model: "scripted" },
    model: new ScriptedModel([callTool("write_file", { file_path: "/a.txt", content: "a" }), "one", "two"]),
    checkpointer,
  });
  const config = { configurable: { thread_id: "t" } };
  for (const text of ["first", "second"]) {
    const options = {
      ...config,
      streamMode: ["custom" as const],
      subgraphs: true,
      durability: "sync" as const,
    };
    const chunks = await agent.stream({ messages: [new HumanMessage(text)] } as never, options);
    for await (const _ of chunks);
  }
  const inputs: unknown[] = [];
  for await (const { metadata, checkpoint } of checkpointer.list(config, { filter: { source: "input" } })) {
    inputs.push([metadata?.source, Object.keys(checkpoint.channel_values["__start__"] as object)]);
  }
  expect(inputs).toEqual([
    ["input", ["messages"]],
    ["input", ["messages"]],
  ]);
  const { values } = await agent.graph.getState(config);
  expect((values as { files: Record<string, string> }).files).toEqual({ "/a.txt": "a" });
});
