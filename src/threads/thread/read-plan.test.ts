import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { expect, it, vi } from "vitest";
import { driveAlone, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { createRunAgent, type RunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "./thread.ts";

const PLAN = callTool("write_todos", { todos: ["Dig", "Plant"] });
const DUG = callTool("update_todos", { done: "1", note: "by hand" });
const ALL_DONE = callTool("update_todos", { done: ["1", "2"], note: "by hand" });
const WRITE = callTool("write_file", { file_path: "/a.txt", content: "a" });

it("the plan of a thread that has ended is read without its checkpoint", async () => {
  const saver = await sqliteSaver(":memory:");
  const agent = await run([PLAN, ALL_DONE, "Done."], saver);
  const read = vi.spyOn(saver, "getTuple");
  expect(statuses(await new Thread(agent, "t").todos())).toEqual(["Dig completed", "Plant completed"]);
  expect(read).not.toHaveBeenCalled();
});

it.each<[string, () => Promise<BaseCheckpointSaver>]>([
  ["SQLite", () => sqliteSaver(":memory:")],
  ["LangGraph's memory", async () => new MemorySaver()],
])("the plan has finished and edited items while another call waits: %s", async (_, open) => {
  const saver = await open();
  const agent = await run([PLAN, [DUG, WRITE]], saver, ["write_file"]);
  const saved = await saver.getTuple({ configurable: { thread_id: "t" } });
  const before = saved!.checkpoint.channel_values["todos"] as { content: string; status: string }[];
  expect(statuses(before)[0]).not.toBe("Dig completed");
  const plan = await new Thread(agent, "t").todos();
  expect(statuses(plan)[0]).toBe("Dig completed");
  expect(plan).toEqual((await new Thread(agent, "t").content()).todos);
  await new Thread(agent, "t").writePlan({ todos: [...plan, "Water"] });
  expect((await new Thread(agent, "t").todos()).map(({ content }) => content)).toEqual([
    "Dig",
    "Plant",
    "Water",
  ]);
});

async function run(steps: Step[], checkpointer: BaseCheckpointSaver, ask: string[] = []): Promise<RunAgent> {
  const model = new ScriptedModel(steps);
  const settings = { ...DEFAULT_SETTINGS, model: "scripted", ask };
  const agent = createRunAgent({ settings, model, checkpointer });
  await driveAlone(agent, taskInput("Go", {}));
  return agent;
}

const statuses = (todos: readonly { content: string; status: string }[]): string[] =>
  todos.map(({ content, status }) => `${content} ${status}`);
