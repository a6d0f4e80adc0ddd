// The process that kill.test.ts kills: runs one thread after another, each from where the last process left it.
// It takes the built package, which starts in a third of the time that a loader for TypeScript would take.
import { appendFileSync } from "node:fs";
import { HumanMessage } from "@langchain/core/messages";
import { planMiddleware } from "holdfast";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const [file, journal, turns] = process.argv.slice(2);
const TURNS = Number(turns);

// Loading takes longer than the run itself, so it waits for the start signal: the number of threads.
process.stdin.once("data", (count) => void run(Number(String(count))));

async function run(count) {
  const saver = await sqliteSaver(file);
  for (let number = 0; number < count; number++) {
    const thread = `thread-${number}`;
    const release = await saver.acquireThread(thread, { wait: 10_000 });
    await finish(saver, thread);
    await release();
  }
  saver.close();
  process.stdin.unref();
}

async function finish(checkpointer, thread) {
  const work = tool(
    ({ n }) => {
      appendFileSync(journal, `${thread} ${n}\n`);
      return `result ${n} `.padEnd(1024, "*");
    },
    { name: "work", description: "work", schema: z.object({ n: z.number() }) },
  );
  const model = new ScriptedModel([answer], { loop: true });
  const agent = createAgent({ model, tools: [work], middleware: [planMiddleware()], checkpointer });
  const config = { configurable: { thread_id: thread }, recursionLimit: 1000, durability: "sync" };
  const { values, tasks } = await agent.graph.getState(config);
  if (values.messages?.length > 0 && tasks.length === 0) return;
  const input = { messages: [new HumanMessage({ id: "request", content: "go" })] };
  await agent.invoke(values.messages?.length > 0 ? null : input, config);
}

/** The model's next answer, which depends only on the number of its earlier answers. */
function answer({ messages }) {
  const turn = messages.filter((message) => message.getType() === "ai").length;
  if (turn > TURNS) return "finished";
  const work = callTool("work", { n: turn }, `work-${turn}`);
  if (turn === 0) {
    const todos = Array.from({ length: TURNS }, (_, at) => `step ${at + 1}`);
    return [callTool("write_todos", { todos }, "plan-0"), work];
  }
  return [callTool("update_todos", { done: String(turn) }, `plan-${turn}`), work];
}
