// The same work as that of `test/helpers/cluster/worker.mjs`, by a peer: KIND=dbos is a plain workflow of DBOS whose steps are
// the calls of the model and of the tool; KIND=saver is LangChain's agent on LangGraph's own Postgres saver, which
// has no queue and is told by its parent what to run.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { callTool, ScriptedModel } from "../../dist/testing/index.js";
import { pass, write } from "../../test/helpers/cluster/effects.mjs";

const { KIND: kind, DATABASE: database, NAME: name } = process.env;

const work = tool(
  async ({ gate }, { toolCall, toolCallId = toolCall?.id, configurable }) => {
    const thread = configurable?.thread_id ?? "";
    await write(thread, toolCallId, "begin", false);
    await pass(gate);
    await write(thread, toolCallId, "end", false);
    return "worked";
  },
  { name: "work", description: "works", schema: z.object({ n: z.number(), gate: z.string().optional() }) },
);

const model = new ScriptedModel(
  [
    ({ messages }) => {
      const at = messages.findLastIndex((message) => message.getType() === "human");
      const { turns, gates = {}, id } = JSON.parse(messages[at].text);
      const turn = messages.slice(at).filter((message) => message.getType() === "ai").length;
      const gate = gates[turn];
      return turn < turns
        ? callTool("work", { n: turn, ...(gate && { gate }) }, `${id}-${turn}`)
        : `done ${id}`;
    },
  ],
  { loop: true },
);

async function startDbos() {
  const quiet = () => {};
  DBOS.setConfig({
    name: "peer",
    applicationVersion: "1",
    executorID: name,
    systemDatabaseUrl: database,
    logger: { info: quiet, debug: quiet, warn: quiet, error: quiet },
  });
  const run = async (given) => {
    const messages = [new HumanMessage(JSON.stringify(given))];
    for (;;) {
      // What a step returns is plain JSON to the workflow.
      const ask = async () =>
        (({ content, tool_calls }) => ({ content, tool_calls }))(await model.invoke(messages));
      const answer = new AIMessage(await DBOS.runStep(ask, { name: "model" }));
      messages.push(answer);
      const [call] = answer.tool_calls;
      if (!call) return answer.text;
      const use = async () => (await work.invoke({ ...call, type: "tool_call" })).text;
      messages.push(new ToolMessage(await DBOS.runStep(use, { name: "tool" }), call.id));
    }
  };
  const speak = async ({ id, count, every }) => {
    await DBOS.runStep(() => write("", id, "start", false), { name: "start" });
    const begun = performance.now();
    for (let n = 0; n < count; n += 1) {
      await DBOS.writeStream("events", { n, at: Date.now() });
      const wait = begun + (n + 1) * every - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
  DBOS.registerWorkflow(run, { name: "run" });
  DBOS.registerWorkflow(speak, { name: "speak" });
  await DBOS.launch();
  await DBOS.registerQueue("runs", { workerConcurrency: 50, onConflict: "always_update" });
}

async function startSaver() {
  const { PostgresSaver } = await import("@langchain/langgraph-checkpoint-postgres");
  const checkpointer = PostgresSaver.fromConnString(database);
  await checkpointer.setup();
  const agent = createAgent({ model, tools: [work], checkpointer });
  const run = async (thread, given) => {
    const config = { configurable: { thread_id: thread }, durability: "sync", recursionLimit: 100 };
    await agent.invoke({ messages: [new HumanMessage(JSON.stringify(given))] }, config);
    process.send({ done: thread });
  };
  process.on("message", ({ thread, given }) => {
    if (thread !== undefined) void run(thread, given);
  });
}

await (kind === "dbos" ? startDbos() : startSaver());
process.on("message", (asked) => asked === "cpu" && process.send(process.cpuUsage()));
console.log("ready");
