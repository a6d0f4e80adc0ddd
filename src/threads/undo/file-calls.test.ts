import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunAgent, RunGraph } from "../prepare/agent.ts";
import { Thread } from "../thread/thread.ts";
import { copyThread } from "./copy-thread.ts";
import { lastMessage, takeBack } from "./earlier-messages.ts";
import { fileCallsOf } from "./file-calls.ts";

const write = (name: string) => callTool("write_file", { file_path: `/${name}.md`, content: name });
const job = (description: string, more: object = {}) =>
  callTool("task", { description, subagent_type: "helper", ...more });

/** Gives an agent messages one by one. Each agent follows the script of the last words of a person that it has. */
async function worked(
  scripts: Record<string, Step[]>,
  {
    tasks = ["Go"],
    saver = new MemorySaver(),
    fork = false,
  }: { tasks?: string[]; saver?: BaseCheckpointSaver; fork?: boolean } = {},
): Promise<{ graph: RunGraph; paths: (thread?: string) => Promise<string[]> }> {
  const step: Step = ({ messages }) => {
    const asked = messages.findLastIndex(({ type, name }) => type === "human" && name === undefined);
    const answers = messages.slice(asked).filter(({ type }) => type === "ai");
    return scripts[messages[asked]!.text]![answers.length]!;
  };
  const agent = createDeepAgent({
    model: new ScriptedModel([step], { loop: true }),
    plan: false,
    background: true,
    subagents: [{ name: "helper", description: "helps", fork }],
    checkpointer: saver,
  });
  const graph = agent.graph as unknown as RunGraph;
  const config = { configurable: { thread_id: "t" } };
  for (const content of tasks)
    await agent.graph.invoke({ messages: [{ role: "user", content }] } as never, config);
  const paths = async (thread = "t"): Promise<string[]> => {
    const state = await graph.getState({ configurable: { thread_id: thread } });
    return (await fileCallsOf(saver, state)).map(({ args }) => String(args["file_path"]));
  };
  return { graph, paths };
}

describe("the file calls of a thread", () => {
  const SCRIPTS = {
    Go: [write("one"), job("Help"), write("four"), "Done."],
    Help: [write("two"), [write("three"), callTool("read_file", { file_path: "/none.md" })], "Helped."],
  };

  it.each([
    ["SQLite", () => sqliteSaver(":memory:")],
    ["LangGraph's own checkpointer", async () => new MemorySaver()],
  ])("are in order, with a sub-agent's calls in their place, from %s", async (_name, saver) => {
    const { paths } = await worked(SCRIPTS, { saver: await saver() });
    expect(await paths()).toEqual(["/one.md", "/two.md", "/three.md", "/four.md"]);
  });

  it("are there once, where a sub-agent began with its caller's conversation", async () => {
    const { paths } = await worked(SCRIPTS, { fork: true });
    expect(await paths()).toEqual(["/one.md", "/two.md", "/three.md", "/four.md"]);
  });

  it("include those of every sub-agent, parallel and in the background", async () => {
    const { paths } = await worked({
      Go: [[job("North"), job("South"), job("East", { background: true })], "Done.", "All is done."],
      North: [write("north"), "Written."],
      South: [write("south"), "Written."],
      East: [write("east"), "Written."],
    });
    expect((await paths()).toSorted()).toEqual(["/east.md", "/north.md", "/south.md"]);
  });

  it("exclude a sub-agent in an undone part of the thread, and are copied with it", async () => {
    const saver = await sqliteSaver(":memory:");
    const tasks = ["First", "Go"];
    const { graph, paths } = await worked(
      { First: [job("Begin"), "Begun."], Begin: [write("zero"), "Written."], ...SCRIPTS },
      { saver, tasks },
    );
    expect(await paths()).toHaveLength(5);
    await copyThread(saver, { from: "t", to: "copy" });
    const agent = { graph } as RunAgent;
    const { before } = (await lastMessage(new Thread(agent, "t")))!;
    await takeBack(new Thread(agent, "t"), before!);
    expect(await paths()).toEqual(["/zero.md"]);
    expect(await paths("copy")).toHaveLength(5);
  });
});
