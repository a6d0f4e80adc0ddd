import { HumanMessage, RemoveMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { driveAlone, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { lookedAt } from "../../../test/helpers/postgres/list-counter.ts";
import { isFromUser } from "../../middleware/text/from-user.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { PlanEdits } from "../plan/plan-edits.ts";
import { createRunAgent, type RunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";
import { earlierMessages, lastMessage, takeBack, type EarlierMessage } from "./earlier-messages.ts";

const CONFIG = { configurable: { thread_id: "t" } };
const SAVERS: [string, () => Promise<BaseCheckpointSaver>][] = [
  ["SQLite", () => sqliteSaver(":memory:")],
  ["LangGraph's memory", async () => new MemorySaver()],
];

it.each(SAVERS)(
  "the search for messages finds the same as a walk through all values: %s",
  async (_, open) => {
    const edits = new PlanEdits();
    const say = () => {
      void edits.say("Be brief");
      return callTool("ls", { path: "/" });
    };
    const { agent, turn } = agentOn(await open(), [
      "One.",
      "Two.",
      "Two, again.",
      say,
      "Three.",
      "Four.",
      "Five.",
    ]);
    await turn(taskInput("First", {}, "m1"));
    await turn(taskInput("Second", {}, "m2"));
    await takeBack(new Thread(agent, "t"), (await lastMessage(new Thread(agent, "t")))!.before!);
    await turn(taskInput("Second, again", {}, "m2b"));
    await turn(taskInput("Third", {}, "m3"), edits);
    // As others send it: without an id, as a plain object, and with what is there already.
    await turn({ messages: [{ role: "user", content: "Fourth" }] });
    await turn({ messages: [new HumanMessage({ content: "Third", id: "m3" }), new HumanMessage("Fifth")] });
    const told = ["First", "Second, again", "Third", "Be brief", "Fourth", "Fifth"];
    expect((await all(agent)).map(({ text }) => text)).toEqual(told);
    expect(await all(agent)).toEqual(await fromValues(agent));

    await agent.graph.updateState(CONFIG, { messages: [new RemoveMessage({ id: "m1" })] }, "model_request");
    await agent.graph.updateState(CONFIG, { messages: [new HumanMessage("Sixth")] }, "model_request");
    expect((await all(agent)).map(({ text }) => text)).toEqual([...told, "Sixth"]);
    expect(await all(agent)).toEqual(await fromValues(agent));
  },
);

it("the last message is found without reading earlier checkpoints, in any thread", async () => {
  const counts = await Promise.all(
    [4, 40].map(async (turns) => {
      const saver = await sqliteSaver(":memory:");
      const { agent, turn } = agentOn(
        saver,
        Array.from({ length: turns }, () => "Done."),
      );
      for (let n = 0; n < turns; n++) await turn(taskInput(`Task ${n}`, {}, `m${n}`));
      const seen = lookedAt(saver);
      expect(await lastMessage(new Thread(agent, "t"))).toMatchObject({
        id: `m${turns - 1}`,
        isHandedOver: false,
      });
      return seen;
    }),
  );
  expect(counts[1]).toEqual(counts[0]);
  expect(counts[1]!.looks).toBe(2);
});

it("all messages are found with a look at two checkpoints, where each began a turn", async () => {
  const saver = await sqliteSaver(":memory:");
  const { agent, turn } = agentOn(
    saver,
    Array.from({ length: 12 }, () => "Done."),
  );
  for (let n = 0; n < 12; n++) await turn(taskInput(`Task ${n}`, {}, `m${n}`));
  const expected = await fromValues(agent);
  const seen = lookedAt(saver);
  expect(await all(agent)).toEqual(expected);
  expect(seen.looks).toBe(2);
});

it("the search for all messages reads only checkpoints that may hold a new message", async () => {
  const saver = await sqliteSaver(":memory:");
  const looking = Array.from({ length: 20 }, (_, n) => callTool("ls", { path: `/${n}` }));
  const { agent, turn } = agentOn(saver, [...looking, "Done."]);
  await turn(taskInput("Look twenty times", {}, "m"));
  const seen = lookedAt(saver);
  expect(await all(agent)).toHaveLength(1);
  expect(seen.checkpoints).toBeGreaterThan(20);
  // The one that it began with, and the input before that.
  expect(seen.looks).toBe(2);
});

function agentOn(checkpointer: BaseCheckpointSaver, steps: ConstructorParameters<typeof ScriptedModel>[0]) {
  const model = new ScriptedModel(steps);
  const settings = { ...DEFAULT_SETTINGS, model: "scripted", plan: false };
  const agent = createRunAgent({ settings, model, checkpointer });
  const turn = async (input: object, edits?: PlanEdits): Promise<void> => {
    expect((await driveAlone(agent, input, edits)).outcome).toBe("done");
  };
  return { agent, turn };
}

async function all(agent: RunAgent): Promise<EarlierMessage[]> {
  const found: EarlierMessage[] = [];
  for await (const message of earlierMessages(new Thread(agent, "t"))) found.unshift(message);
  return found;
}

/** The same, oldest first, by a look at every message of every checkpoint. */
async function fromValues({ graph }: RunAgent): Promise<EarlierMessage[]> {
  const line: { id: string; isInput: boolean; said: BaseMessage[] }[] = [];
  let parent: unknown;
  for await (const state of graph.getStateHistory(CONFIG)) {
    const id = String(state.config.configurable?.["checkpoint_id"]);
    if (line.length > 0 && id !== parent) continue;
    parent = state.parentConfig?.configurable?.["checkpoint_id"];
    const { messages = [] } = state.values as { messages?: BaseMessage[] };
    line.unshift({ id, isInput: state.metadata?.source === "input", said: messages.filter(isFromUser) });
  }
  const known = new Set<string>();
  return line.flatMap(({ said, isInput }, at) => {
    const fresh = said.filter(({ id = "" }) => !known.has(id));
    for (const { id = "" } of fresh) known.add(id);
    const before = line[line[at - 1]?.isInput ? at - 2 : at - 1]?.id;
    const isHandedOver = at > 0 && !isInput && !line[at - 1]?.isInput;
    return fresh.map(({ id = "", text }) => ({
      id,
      text,
      isHandedOver,
      ...(before !== undefined && { before }),
    }));
  });
}
