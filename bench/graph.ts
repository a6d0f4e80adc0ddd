import { HumanMessage } from "@langchain/core/messages";
import { ScriptedModel, type Step } from "../src/testing/scripted-model.ts";
import { CountingSaver } from "./counting-saver.ts";
import type { Agent, System } from "./systems.ts";
import { REQUEST, scriptOf } from "./task.ts";

const ITEMS = 20;
const CONFIG = { configurable: { thread_id: "t" }, recursionLimit: 10_000 };

/** Supersteps of the graph per model turn, on a plan of 20 items. */
export async function superstepsPerTurn(system: System): Promise<number> {
  return superstepsOf(scriptOf(ITEMS, system.plan), (model, checkpointer) =>
    system.create({ model, size: ITEMS, checkpointer }),
  );
}

/** The same for any agent and script. */
export async function superstepsOf(
  script: readonly Step[],
  create: (model: ScriptedModel, checkpointer: unknown) => Agent,
): Promise<number> {
  const saver = new CountingSaver();
  const agent = create(new ScriptedModel(script), saver);
  await agent.invoke({ messages: [new HumanMessage({ content: REQUEST, id: "request" })] }, CONFIG);
  // The first checkpoint is the input's.
  return (saver.checkpoints - 1) / script.length;
}
