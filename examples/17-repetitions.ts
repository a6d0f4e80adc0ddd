// A run is stopped in the middle of tool calls. When it goes on, none of them is run again unseen.
import { Command, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, isRepetition, type ConsentRequest } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";
import { tool, type ToolRuntime } from "langchain";
import { z } from "zod";

const schema = z.object({});
const stop = new AbortController();
const orders = new Map<string, string>();

// The work is done, and then the process is gone: no result is saved.
const goneAfter = async (what: string): Promise<string> => {
  if (stop.signal.aborted) return what;
  console.log(what, "(no result was saved)");
  await new Promise((resolve) => setTimeout(resolve, 50));
  stop.abort();
  return new Promise(() => {});
};

// The id of a call is the same when it is run again: a service can tell that it has done the work.
const order = tool(
  async (_args, runtime: ToolRuntime) => {
    const key = runtime.toolCallId;
    if (isRepetition(runtime) && orders.has(key)) return `${orders.get(key)}, as before`;
    orders.set(key, "order 1");
    return goneAfter("order 1");
  },
  { name: "order", description: "orders paper", schema },
);
const pay = tool(() => goneAfter("paid"), { name: "pay", description: "pays the bill", schema });
const mail = tool(() => goneAfter("sent"), { name: "mail", description: "writes to the customer", schema });

const model = new ScriptedModel([
  [callTool("order", {}, "1"), callTool("pay", {}, "2"), callTool("mail", {}, "3")],
  "Ordered. I look at the outbox before I write again.",
]);
const agent = createDeepAgent({
  model,
  plan: false,
  tools: [order, pay, mail],
  repeats: { order: "repeat", pay: "ask" }, // `mail`: its outcome is unknown
  checkpointer: new MemorySaver(), // with `sqliteSaver` also after kill -9
});
const config = { configurable: { thread_id: "shop" } };

const input = { messages: [{ role: "user", content: "Order paper" }] };
await agent.invoke(input, { ...config, signal: stop.signal }).catch(() => console.log("stopped"));

const paused = await agent.invoke(null, config);
const open = (paused as unknown as Record<string, { id: string; value: ConsentRequest }[]>)["__interrupt__"]!;
for (const { value } of open)
  console.log(value.name, "?", value.actionRequests[0]!.description.split("\n")[0]);

const resume = Object.fromEntries(open.map(({ id }) => [id, { type: "reject", message: "It was paid." }]));
await agent.invoke(new Command({ resume }), config);
for (const message of model.requests[1]!.messages.slice(-3)) console.log("the model reads:", message.text);
