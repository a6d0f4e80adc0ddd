// A run is stopped in the middle of a tool call. When it goes on, the call is not run again unseen.
import { Command, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, isRepetition, type ConsentRequest } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";
import { tool, type ToolRuntime } from "langchain";
import { z } from "zod";

const schema = z.object({});
const orders = new Map<string, string>();
let stop = new AbortController();

// The work is done, and then the process is gone: no result is saved.
const goneAfter = async (what: string): Promise<string> => {
  if (stop.signal.aborted) return what;
  console.log(what, "(no result was saved)");
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

for (const { name } of [order, pay, mail]) {
  stop = new AbortController();
  const model = new ScriptedModel([callTool(name, {}, name), "I look before I do it again."]);
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
  const { __interrupt__: open = [] } = paused as { __interrupt__?: { id: string; value: ConsentRequest }[] };
  for (const { id, value } of open) {
    console.log(value.name, "?", value.actionRequests[0]!.description.split("\n")[0]);
    const resume = { [id]: { type: "reject", message: "It was paid." } };
    await agent.invoke(new Command({ resume }), config);
  }
  console.log("the model reads:", model.requests[1]!.messages.at(-1)!.text);
}
