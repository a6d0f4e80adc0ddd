// Drives the graphs through LangGraph's public client and prints what a user interface would see, as JSON.
// Runs where the client is installed: node drive.mjs <url>
import { Client } from "@langchain/langgraph-sdk";

const client = new Client({ apiUrl: process.argv[2] });
const input = { messages: [{ role: "human", content: "Refactor this" }] };
const canPlan = { messages: [{ role: "human", content: "Can you plan?" }] };

/** Streams a run and keeps each state of the plan. */
async function watch(threadId, graph, payload) {
  const plans = [];
  let last = {};
  for await (const { event, data } of client.runs.stream(threadId, graph, {
    streamMode: "values",
    ...payload,
  })) {
    if (event === "error") throw new Error(JSON.stringify(data));
    if (event !== "values" || !data.messages) continue;
    last = data;
    const plan = (data.todos ?? []).map((todo) => todo.status[0]).join("");
    if (plan !== plans.at(-1)) plans.push(plan);
  }
  return { plans, last };
}

const planMode = { configurable: { is_plan_mode: true } };
const { thread_id } = await client.threads.create();
const first = await watch(thread_id, "lead", { input, config: planMode });
const state = await client.threads.getState(thread_id);
const question = state.tasks.flatMap((task) => task.interrupts ?? [])[0]?.value;
const second = await watch(thread_id, "lead", { command: { resume: "b" }, config: planMode });
// The server remembers a thread's configuration: what is to change has to be said.
const off = await watch(thread_id, "lead", { input, config: { configurable: { is_plan_mode: false } } });
const back = await client.threads.getState(thread_id);

// A front end may say it in the context of a run too, for each run anew.
const third = await client.threads.create();
const inContext = [];
for (const is_plan_mode of [true, false, true]) {
  const { last } = await watch(third.thread_id, "lead", { input: canPlan, context: { is_plan_mode } });
  inContext.push(last.messages.at(-1).content);
}
const fourth = await client.threads.create();
const example = await watch(fourth.thread_id, "example", { input, config: planMode });

const other = await client.threads.create();
const deep = await watch(other.thread_id, "deep", { input });
console.log(
  JSON.stringify({
    first: first.plans,
    question,
    second: second.plans,
    answer: second.last.messages?.at(-1)?.content,
    off: off.last.messages?.at(-1)?.content,
    kept: back.values.todos?.length,
    inContext,
    example: example.last.messages.at(-1).content,
    deep: deep.plans,
    files: deep.last.files,
  }),
);
