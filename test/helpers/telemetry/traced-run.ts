import { MemorySaver } from "@langchain/langgraph";
import { ScriptedModel, type Step } from "../../../src/testing/index.ts";
import { createRunAgent, type RunAgent } from "../../../src/threads/prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../../../src/threads/prepare/settings.ts";
import { runThread, RunEvents } from "../../../src/threads/run/run-thread.ts";
import { Thread } from "../../../src/threads/thread/thread.ts";
import { tracesFrom } from "../../../src/threads/traces/index.ts";
import { taskInput } from "../models/run-thread.ts";

/** Runs a script as the surfaces do, with what these variables ask for. */
export async function tracedRun(
  steps: Step[],
  env: Record<string, string>,
  createAgent: (model: ScriptedModel) => RunAgent = runAgent,
): Promise<void> {
  const traces = tracesFrom(env);
  const model = new ScriptedModel(steps);
  await runThread(taskInput("Go and look", {}), {
    thread: new Thread(createAgent(model), "t"),
    model: { model, name: "openai:gpt-x", source: "option" },
    events: new RunEvents("t", () => {}),
    signal: new AbortController().signal,
    answer: async () => undefined,
    resumed: false,
    held: async () => {},
    task: "Go and look",
    prices: { input: 1, output: 1, cached: 1 },
    traces,
  });
  await traces?.close();
}

function runAgent(model: ScriptedModel): RunAgent {
  const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
  return createRunAgent({ settings, model, checkpointer: new MemorySaver() });
}
