import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { driveAlone } from "../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { createRunAgent, type RunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { NOT_BEGUN, NOT_FINISHED } from "./close-turn.prompt.ts";
import { Thread } from "./thread.ts";

const config = { configurable: { thread_id: "t" } };

/** A thread that was stopped at a question, beside which a plan was made and a file was written. */
async function stopped(more: Step[]): Promise<{ agent: RunAgent; model: ScriptedModel }> {
  const model = new ScriptedModel([
    [
      callTool("write_todos", { todos: ["Write", "Wait"] }),
      callTool("write_file", { file_path: "/a.md", content: "new" }),
      callTool("delete_file", { file_path: "/b.md" }),
    ],
    ...more,
  ]);
  const agent = createRunAgent({
    settings: { ...DEFAULT_SETTINGS, model: "scripted", ask: ["delete_file"] },
    model,
    checkpointer: await sqliteSaver(":memory:"),
    live: { mode: "auto", allow: [] },
  });
  await run(agent, "Begin");
  return { agent, model };
}

function run(agent: RunAgent, words: string) {
  return driveAlone(agent, { messages: [new HumanMessage({ content: words, id: crypto.randomUUID() })] });
}

it("closeTurn keeps the results of an unfinished turn, and answers its other calls", async () => {
  const { agent, model } = await stopped(["Something else."]);
  await new Thread(agent, "t").closeTurn("next");
  await run(agent, "Something else");
  const { values } = await agent.graph.getState(config);
  const { messages, todos, files } = values as { messages: BaseMessage[]; todos: object[]; files: object };
  expect(todos).toMatchObject([{ content: "Write" }, { content: "Wait" }]);
  expect(Object.keys(files)).toEqual(["/a.md"]);
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  expect(results.map(({ name, status }) => [name, status])).toEqual([
    ["write_todos", "success"],
    ["write_file", "success"],
    ["delete_file", "error"],
  ]);
  expect(results.at(-1)!.text).toBe(NOT_BEGUN);
  expect(model.requests).toHaveLength(2);
});

it("closeTurn says of a started call that it may have had some of its effect", async () => {
  const stop = new AbortController();
  const slow = tool(
    () => {
      stop.abort();
      return new Promise<string>(() => {});
    },
    { name: "slow", description: "x", schema: z.object({}) },
  );
  const agent = createRunAgent({
    settings: { ...DEFAULT_SETTINGS, model: "scripted", mode: "auto" },
    model: new ScriptedModel([callTool("slow")]),
    checkpointer: await sqliteSaver(":memory:"),
    tools: [slow],
  });
  const input = { messages: [new HumanMessage("Begin")] } as never;
  await expect(agent.graph.invoke(input, { ...config, signal: stop.signal })).rejects.toThrow(/abort/i);
  await new Thread(agent, "t").closeTurn("next");
  const { values } = await agent.graph.getState(config);
  expect((values as { messages: BaseMessage[] }).messages.at(-1)!.text).toBe(NOT_FINISHED);
});

it("closeTurn leaves a thread without an open turn unchanged", async () => {
  const { agent } = await stopped(["Done."]);
  await new Thread(agent, "t").closeTurn("next");
  await run(agent, "Something else");
  const before = await agent.graph.getState(config);
  await new Thread(agent, "t").closeTurn("next");
  expect((await agent.graph.getState(config)).config).toEqual(before.config);
});
