// Runs that start by themselves: again and again by a cron, or once and later. They are kept with the threads, so the
// next server goes on with them. `holdfast schedule "0 9 * * 1-5" "task"` does the same for `holdfast serve`.
import { Client } from "@langchain/langgraph-sdk";
import { createDeepAgent } from "holdfast";
import { createServer, listen } from "holdfast/server";
import { sqliteSaver } from "holdfast/storage";
import { ScriptedModel } from "holdfast/testing";

const model = new ScriptedModel([({ messages }) => `Done: ${messages.at(-1)!.text}`], { loop: true });
const checkpointer = await sqliteSaver(":memory:");
const server = await createServer({ graphs: { keeper: createDeepAgent({ model }) }, checkpointer });
const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
const client = new Client({ apiUrl: url, apiKey: server.token! });

const ask = (content: string) => ({ messages: [{ type: "human", content }] });
const { thread_id: thread } = await client.threads.create();
// Six fields: each second. Five, as in a crontab, begin with the minute; a time zone can be named.
const cron = await client.crons.createForThread(thread, "keeper", {
  schedule: "* * * * * *",
  input: ask("Look at the lamp"),
  timezone: "Europe/Dublin",
});
const later = await client.runs.create(thread, "keeper", {
  input: ask("Close the shutters"),
  afterSeconds: 2,
});
console.log("for later:", later.status);

await client.runs.join(thread, later.run_id);
await client.crons.update(cron.cron_id, { enabled: false });
const { values } = await client.threads.getState<{ messages: { type: string; content: string }[] }>(thread);
const said = new Set(values.messages.filter(({ type }) => type === "ai").map(({ content }) => content));
console.log([...said].toSorted().join("\n"));
console.log("the cron rests:", (await client.crons.search({ enabled: false })).length === 1);

await server.close();
await close();
checkpointer.close();
