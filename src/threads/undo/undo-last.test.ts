import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { driveAlone, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { replay } from "../record/index.ts";
import { Thread } from "../thread/thread.ts";
import { fileCopies } from "./file-copies.ts";
import { undoLast, undoneWords } from "./undo-last.ts";

const SETTINGS = { ...DEFAULT_SETTINGS, model: "scripted" };
const SAVERS: [string, () => Promise<BaseCheckpointSaver>][] = [
  ["SQLite", () => sqliteSaver(":memory:")],
  ["LangGraph's memory", async () => new MemorySaver()],
];
const DONE = callTool("write_todos", { todos: [{ content: "Dig", status: "completed", note: "by hand" }] });
const ASK = callTool("ask_clarification", { question: "Which bed?" });

function threadOn(checkpointer: BaseCheckpointSaver, steps: readonly Step[], settings = SETTINGS) {
  const model = new ScriptedModel(steps);
  const agent = createRunAgent({ settings, model, checkpointer });
  const run = (task: string) => driveAlone(agent, taskInput(task, { run: settings, title: task }));
  return { thread: new Thread(agent, "t"), model, run };
}

it.each(SAVERS)("undo of all messages leaves a thread with its settings alone: %s", async (_, open) => {
  const { thread, model, run } = threadOn(await open(), [DONE, "One.", "Two.", "Three."]);
  await run("First");
  await run("Second");
  expect(await undoLast(thread, undefined)).toMatchObject({ text: "Second", isFirst: false });
  expect(await undoLast(thread, undefined)).toMatchObject({ text: "First", isFirst: true });

  expect((await thread.state()).values).toMatchObject({ run: SETTINGS });
  expect(await thread.content()).toMatchObject({ todos: [], answer: "" });
  expect(await replay(thread)).toEqual([]);
  expect(await undoLast(thread, undefined)).toBeUndefined();

  expect(await run("Another")).toMatchObject({ outcome: "done", answer: "Three.", counts: { total: 0 } });
  expect(
    model.requests
      .at(-1)!
      .messages.map(({ text }) => text)
      .slice(1),
  ).toEqual(["Another"]);
  const events = await replay(thread);
  expect(events.flatMap((event) => (event.type === "run-start" ? event.task : []))).toEqual(["Another"]);
});

it.each(SAVERS)("counts the tokens of messages that an undo took back: %s", async (_, open) => {
  const usage_metadata = { input_tokens: 90, output_tokens: 10, total_tokens: 100 };
  const said = (content: string) => Object.assign(new AIMessage(content), { usage_metadata });
  const steps = ["One.", "Two.", "Three.", "Four."].map(said);
  const { thread, run } = threadOn(await open(), steps);
  const spent = async (): Promise<number> => {
    const events = await replay(thread);
    return events.reduce((sum, event) => sum + (event.type === "model-end" ? event.usage.inputTokens : 0), 0);
  };
  await run("First");
  await run("Second");
  expect(await spent()).toBe(180);
  await undoLast(thread, undefined);
  expect(await spent()).toBe(180);
  await run("Third");
  expect(await spent()).toBe(270);
  await undoLast(thread, undefined);
  await undoLast(thread, undefined);
  expect(await spent()).toBe(270);
  await run("Fourth");
  expect(await spent()).toBe(360);
});

it("undo of a first message that waits for an answer leaves nothing to continue", async () => {
  const { thread, run } = threadOn(await sqliteSaver(":memory:"), [ASK]);
  expect(await run("First")).toMatchObject({ outcome: "waiting" });
  await undoLast(thread, undefined);
  expect(await thread.questions()).toEqual([]);
  expect(await thread.nextInput()).toBeUndefined();
});

it("undo says that it takes back no command only where one may have run", async () => {
  const run = callTool("execute", { command: "touch a" });
  const stage = threadOn(await sqliteSaver(":memory:"), [run, "Done.", "Hello."], {
    ...SETTINGS,
    shell: true,
  });
  await stage.run("Run it");
  await stage.run("Say hello");
  expect(undoneWords((await undoLast(stage.thread, undefined))!)).toEqual([]);
  const words = undoneWords((await undoLast(stage.thread, undefined))!);
  expect(words).toEqual(["What commands changed is not taken back."]);
});

it("undo names the files of a turn that has no copies on this machine", async () => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-undo-"));
  const dir = join(home, "project");
  mkdirSync(dir);
  const write = callTool("write_file", { file_path: "/a.txt", content: "a" });
  const { thread, run } = threadOn(await sqliteSaver(":memory:"), [write, "Done."], { ...SETTINGS, dir });
  await run("Write");
  const undone = await undoLast(thread, fileCopies({ folder: join(home, "copies"), thread: "t", dir }));
  expect(undoneWords(undone!)).toEqual(["Not put back, since there is no copy of them: /a.txt"]);
  expect(existsSync(join(dir, "a.txt"))).toBe(true);
  rmSync(home, { recursive: true });
});
