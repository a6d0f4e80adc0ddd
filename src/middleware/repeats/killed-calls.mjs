// The process that killed-calls.test.ts kills: runs threads, each with what its name says, from where the last process
// left them. It takes the built package, which starts in a third of the time that a loader for TypeScript would take.
import { appendFileSync } from "node:fs";
import { Command } from "@langchain/langgraph";
import { createDeepAgent, isRepetition, orderedCallsMiddleware } from "holdfast";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createMiddleware, tool } from "langchain";
import { z } from "zod";

const [file, effects, mode] = process.argv.slice(2);
const isHanging = mode === "hang";
const schema = z.object({});

/** Never ends in a process that is to be killed. */
const hang = () => (isHanging ? new Promise(() => setInterval(() => {}, 1000)) : undefined);

const send = (thread) =>
  tool(
    async (_args, runtime) => {
      appendFileSync(effects, `${thread} ${runtime.toolCallId} ${isRepetition(runtime)}\n`);
      if (thread !== "ended") await hang();
      return "sent";
    },
    { name: "send", description: "sends", schema },
  );
const note = (thread) =>
  tool(() => (appendFileSync(effects, `${thread} note\n`), "noted"), {
    name: "note",
    description: "notes",
    schema,
  });
const look = tool(
  async () => {
    appendFileSync(effects, "harmless looked\n");
    await hang();
    return "seen";
  },
  {
    name: "look",
    description: "looks",
    schema,
    metadata: { annotations: { readOnlyHint: true } },
  },
);
const hangsAfterwards = createMiddleware({
  name: "HangsAfterwards",
  wrapToolCall: async (request, handler) => {
    const result = await handler(request);
    if (request.toolCall.name === "send") await hang();
    return result;
  },
});

/** The calls of most threads run side by side, so that one has finished when the other is cut short. */
const sideBySide = orderedCallsMiddleware({ tools: { send: "parallel", note: "parallel" } });

const OPTIONS = {
  repeat: { repeats: { send: "repeat" } },
  ask: { repeats: { send: "ask" } },
  refuse: { repeats: { "*": "ask" } },
  consent: { interruptOn: { send: true } },
  "consent-without-id": { interruptOn: { send: true } },
  "consent-of-sub-agent": { interruptOn: { send: true } },
  ended: { middleware: [sideBySide, hangsAfterwards] },
  "in-order": { middleware: [] },
  off: { repeats: false },
};

const saver = await sqliteSaver(file);
process.stdin.once("data", (jobs) => void work(jobs));

async function work(jobs) {
  const results = JSON.parse(String(jobs)).map(async ({ thread, input, resume }) => {
    const release = await saver.acquireThread(thread, { wait: 10_000 });
    const model = new ScriptedModel([answer(thread)], { loop: true });
    const agent = createDeepAgent({
      model,
      checkpointer: saver,
      plan: false,
      tools: [send(thread), note(thread), look],
      middleware: [sideBySide],
      ...OPTIONS[thread],
    });
    const config = { configurable: { thread_id: thread }, durability: "sync" };
    const given = input ? { messages: [{ role: "user", content: input }] } : null;
    const result = await agent.invoke(resume ? new Command({ resume }) : given, config);
    await release();
    return {
      thread,
      open: result.__interrupt__ ?? [],
      results: result.messages.filter((m) => m.type === "tool").map(({ name, text }) => `${name}: ${text}`),
      heard: model.requests.flatMap(({ messages }) => messages.map((message) => message.text)),
    };
  });
  console.log(JSON.stringify(await Promise.all(results)));
  saver.close();
  process.exit(0);
}

/** What the model says depends only on what it is shown. */
function answer(thread) {
  return ({ messages }) => {
    const said = messages.filter((message) => message.type === "ai").length;
    if (said > 0) return "done";
    const isHelper = messages.some((message) => message.text === "help");
    if (thread.endsWith("sub-agent") && !isHelper)
      return callTool("task", { description: "help", subagent_type: "general-purpose" }, "t");
    if (thread === "harmless") return callTool("look", {}, "l");
    return [callTool("send", {}, "s"), callTool("note", {}, "n")];
  };
}
