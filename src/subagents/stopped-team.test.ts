import { HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rounds } from "../../test/rounds.ts";
import { createDeepAgent } from "../deep/index.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";

interface Open {
  id: string;
  value: { owner: string };
}

/** Runs a team with an item each; those that ask stop the run until they are approved, in the order that is given. */
async function runTeam({ asks, approve }: { asks: readonly boolean[]; approve: readonly number[] }) {
  const names = asks.map((_, at) => `helper-${at + 1}`);
  const task = (name: string, at: number) =>
    callTool("task", { subagent_type: name, description: name, todo_id: String(at + 1) }, `task-${at + 1}`);
  const write = (at: number) => callTool("write_file", { file_path: `/${at + 1}`, content: "x" });
  const model = new ScriptedModel([
    callTool("write_todos", { todos: [...names, "report"] }),
    names.map(task),
    callTool("ls", { path: "/" }),
    "Here is the report.",
  ]);
  const agent = createDeepAgent({
    model,
    checkpointer: new MemorySaver(),
    interruptOn: { write_file: true },
    subagents: names.map((name, at) => ({
      name,
      description: name,
      model: new ScriptedModel(asks[at] ? [write(at), "Found."] : ["Found."]),
    })),
  });
  const config = { configurable: { thread_id: "t" } };
  let result = (await agent.invoke({ messages: [new HumanMessage("go")] }, config)) as {
    __interrupt__?: Open[];
    todos: { id: string; status: string }[];
  };
  for (const at of approve) {
    const open = result.__interrupt__?.find(({ value }) => value.owner.includes(`task-${at + 1}`));
    const resume = { [open!.id]: { type: "approve" } };
    result = (await agent.invoke(new Command({ resume }), config)) as typeof result;
  }
  return { model, statuses: result.todos.map(({ status }) => status) };
}

describe("a team of which some ask for consent", () => {
  it("keeps what those completed that were called later and ended before the run stopped", async () => {
    const { model, statuses } = await runTeam({ asks: [true, false, false], approve: [0] });
    expect(statuses).toEqual(["completed", "completed", "completed", "completed"]);
    expect(JSON.stringify(model.requests)).not.toContain("The user changed your plan");
  });

  it("loses no completion whoever asks and in whatever order they are answered", async () => {
    const teams = fc.array(fc.boolean(), { minLength: 2, maxLength: 5 }).chain((asks) => {
      const asking = asks.flatMap((isAsking, at) => (isAsking ? [at] : []));
      return fc.record({
        asks: fc.constant(asks),
        approve: fc.shuffledSubarray(asking, { minLength: asking.length }),
      });
    });
    await fc.assert(
      fc.asyncProperty(teams, async (team) => {
        const { model, statuses } = await runTeam(team);
        expect(statuses).toEqual([...team.asks, true].map(() => "completed"));
        expect(JSON.stringify(model.requests)).not.toContain("The user changed your plan");
      }),
      { numRuns: rounds(40) },
    );
  });
});
