// The process that killed.test.ts kills: runs a thread with a sub-agent in the background, from where the last process
// left it. It takes the built package, as killed-calls.mjs does.
import { appendFileSync } from "node:fs";
import { Command } from "@langchain/langgraph";
import { createDeepAgent } from "holdfast";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";
import { tool } from "langchain";
import { z } from "zod";

const [file, effects, thread, mode, answers] = process.argv.slice(2);
const hang = () => (mode === "hang" ? new Promise(() => setInterval(() => {}, 1000)) : undefined);
const send = tool(
  async ({ what }) => {
    appendFileSync(effects, `${thread} sent ${what}\n`);
    if (what === "second") await hang();
    return "sent";
  },
  { name: "send", description: "sends", schema: z.object({ what: z.string() }) },
);

/** What a model says depends only on what it is shown. */
const helper = new ScriptedModel(
  [
    ({ messages }) => {
      appendFileSync(effects, `${thread} helper asked\n`);
      const done = messages.filter((message) => message.type === "tool").length;
      const sends = ["first", "second", "third"];
      if (done < sends.length) return callTool("send", { what: sends[done] }, `s${done}`);
      if (done > sends.length) return "Found 3 leaks.";
      return callTool("write_file", { file_path: "/report", content: "3 leaks" }, "w");
    },
  ],
  { loop: true },
);
const main = new ScriptedModel(
  [
    async ({ messages }) => {
      const texts = messages.map((message) => message.text);
      const job = { description: "look", subagent_type: "scout", background: true };
      if (!texts.some((text) => text.startsWith("Started"))) return callTool("task", job, "t");
      return texts.some((text) => text.includes("Found 3 leaks.")) ? "All told." : "Waiting.";
    },
  ],
  { loop: true },
);

const saver = await sqliteSaver(file);
const release = await saver.acquireThread(thread, { wait: 10_000 });
const agent = createDeepAgent({
  model: main,
  background: true,
  checkpointer: saver,
  tools: [send],
  repeats: { send: "repeat" },
  subagents: [
    {
      name: "scout",
      description: "looks",
      model: helper,
      ...(thread === "asks" && { interruptOn: { write_file: true } }),
    },
  ],
});
const config = { configurable: { thread_id: thread }, durability: "sync" };
const isNew = (await saver.getTuple(config)) === undefined;
const input = isNew ? { messages: [{ role: "user", content: "go" }] } : null;
const result = await agent.invoke(answers ? new Command({ resume: JSON.parse(answers) }) : input, config);
await release();
const { messages, files, __interrupt__: open = [] } = result;
console.log(JSON.stringify({ texts: messages.map((message) => message.text), files, open }));
saver.close();
process.exit(0);
