import { HumanMessage } from "@langchain/core/messages";
import { createDeepAgent } from "../../src/index.ts";
import { callTool, ScriptedModel, type Step } from "../../src/testing/index.ts";
import { collectYoung } from "../garbage.ts";
import { ratioOf, spreadOf } from "../time/statistics.ts";

const TURNS = 40;
/** In a turn: reads around changes, so that each call waits for some before it. */
const script = (): Step[] => [
  ...Array.from({ length: TURNS }, (_, turn) => [
    callTool("ls", { path: "/" }),
    callTool("write_file", { file_path: `/${turn}.md`, content: "one\n" }),
    callTool("read_file", { file_path: `/${turn}.md` }),
    callTool("edit_file", { file_path: `/${turn}.md`, old_string: "one", new_string: "two" }),
    callTool("read_file", { file_path: `/${turn}.md` }),
  ]),
  "Done.",
];

/** Milliseconds of processor time per turn of five calls, with the order and without it. */
export interface OrderCost {
  ordered: number;
  unordered: number;
  ratio: number;
}

export async function orderCost({ quick }: { quick: boolean }): Promise<OrderCost> {
  const samples: Record<"ordered" | "unordered", number[]> = { ordered: [], unordered: [] };
  // By turns, so that what slows the machine down slows both; the first round is warm-up.
  for (let round = 0; round <= (quick ? 5 : 20); round += 1) {
    for (const [name, without] of [
      ["ordered", []],
      ["unordered", ["OrderedCallsMiddleware"]],
    ] as const) {
      const agent = createDeepAgent({ model: new ScriptedModel(script()), plan: false, without });
      collectYoung();
      const start = process.cpuUsage();
      await agent.invoke({ messages: [new HumanMessage("Go")] }, { recursionLimit: 1000 });
      const { user, system } = process.cpuUsage(start);
      if (round > 0) samples[name].push((user + system) / 1000 / TURNS);
    }
  }
  return {
    ordered: spreadOf(samples.ordered).median,
    unordered: spreadOf(samples.unordered).median,
    ratio: ratioOf(samples.ordered, samples.unordered),
  };
}
