// A run with a budget: the model is told before it is used up, and the run can go on afterwards.
import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "holdfast";
import { ScriptedModel } from "holdfast/testing";

// In place of a real model: it looks around for ever, and each look costs 1,100 tokens.
let looks = 0;
const model = new ScriptedModel(
  [
    ({ messages }) => {
      const last = messages.at(-1)!;
      if (last.name === "budget_warning") console.log("the model reads:", last.text);
      looks += 1;
      const tool_calls = [{ name: "ls", args: { path: `/${looks}` }, id: `${looks}` }];
      const usage_metadata = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
      return Object.assign(new AIMessage({ content: "", tool_calls }), { usage_metadata });
    },
  ],
  { loop: true },
);

const agent = createDeepAgent({
  model,
  budget: {
    tokens: 200_000, // of the run, all sub-agents included
    cost: 0.03, // dollars
    ms: 60 * 60 * 1000,
    perItem: { tokens: 50_000 }, // while an item of the plan is in progress
    prices: { input: 3, output: 15, cached: 0.3 }, // dollars per million tokens
  },
  checkpointer: new MemorySaver(),
});
const config = { configurable: { thread_id: "1" } };

const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Look around" }] }, config);
const end = messages.at(-1)!;
const { finish_reason: reason } = end.response_metadata as { finish_reason?: string };
console.log(end.text, reason, `${looks} model calls`);

// The next message has the whole budget again.
await agent.invoke({ messages: [{ role: "user", content: "Go on" }] }, config);
console.log(`${looks} model calls`);
