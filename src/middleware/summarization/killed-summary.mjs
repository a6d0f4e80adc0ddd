// The process that killed-summary.test.ts kills: works through tickets from where the last process left them. Model
// and summarizer go by what they are shown alone, and note of each request what stood in it.
import { appendFileSync } from "node:fs";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createDeepAgent } from "holdfast";
import { postgresSaver, sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";
import { tool } from "langchain";
import { z } from "zod";

const { opening, journal, words, tickets, writer, hangs } = JSON.parse(process.argv[2]);
/** The call that opens the store, which has nothing but JSON in it. */
const [, opener, given] = /^(\w+)\((.*)\)$/.exec(opening);

const note = (line) => appendFileSync(journal, `${JSON.stringify(line)}\n`);
const forever = () => new Promise(() => setInterval(() => {}, 1000));
const shownIn = (messages) => messages.map(({ text }) => text).join("\n");
/** The number of the summary that somebody sees; 0 for none. */
const summaryIn = (text) => Math.max(0, ...[...text.matchAll(/SUMMARY-(\d+)\./g)].map(([, n]) => Number(n)));

async function summarize({ messages }) {
  const saw = summaryIn(shownIn(messages));
  note({ by: "summarizer", saw });
  if (hangs === `asked ${saw + 1}`) await forever();
  return `SUMMARY-${saw + 1}.`;
}

async function work({ messages }) {
  const text = shownIn(messages);
  const saw = summaryIn(text);
  note({ by: "model", saw, missing: words.filter((word) => !text.includes(word)) });
  if (hangs === `answered ${saw}`) await forever();
  const last = messages.findLast((message) => ToolMessage.isInstance(message));
  const done = Number(/^ticket (\d+)/.exec(last?.text ?? "")?.[1] ?? 0);
  return done < tickets ? callTool("read", { n: done + 1, saw }) : "All done.";
}

const read = tool(
  async ({ n, saw }) => {
    note({ by: "tool", n });
    if (hangs === `saved ${saw}`) await forever();
    return `ticket ${n} `.repeat(20);
  },
  {
    name: "read",
    description: "reads a ticket",
    schema: z.object({ n: z.number(), saw: z.number() }),
    metadata: { annotations: { readOnlyHint: true } },
  },
);

/** As the next turn of the conversation, or with the conversation as text. */
const asksForSummary = ({ messages }) => shownIn(messages).includes("Write the summary under these headings");
const model = new ScriptedModel([(request) => (asksForSummary(request) ? summarize : work)], { loop: true });
const checkpointer = await { sqliteSaver, postgresSaver }[opener](...JSON.parse(`[${given}]`));
const agent = createDeepAgent({
  model,
  tools: [read],
  plan: false,
  checkpointer,
  summarization: {
    trigger: { messages: 10 },
    keep: { messages: 4 },
    ...(writer === "named" && { model: new ScriptedModel([summarize], { loop: true }) }),
  },
});
const config = { configurable: { thread_id: "t" }, recursionLimit: 1000 };
const isBegun = (await checkpointer.getTuple(config)) !== undefined;
const input = isBegun ? null : { messages: [new HumanMessage(words.join(" "))] };
const { messages } = await agent.invoke(input, { ...config, durability: "sync" });
console.log(JSON.stringify(messages.map(({ type, text }) => [type, text.slice(0, 40)])));
await checkpointer.close();
