import { HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { createDeepAgent } from "../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";

interface Open {
  id: string;
  value: { owner: string };
}

/** Where the items of a team are made: in a message before its calls, or in front of them in the same message. */
type Making = "before" | "with" | "added";

interface Team {
  asks: readonly boolean[];
  approve: readonly number[];
  making?: Making;
}

/** Runs a team with an item each; those that ask stop the run until they are approved, in the order that is given. */
async function runTeam({ asks, approve, making = "before" }: Team) {
  const names = asks.map((_, at) => `helper-${at + 1}`);
  const task = (name: string, at: number) =>
    callTool("task", { subagent_type: name, description: name, todo_id: String(at + 1) }, `task-${at + 1}`);
  const write = (at: number) => callTool("write_file", { file_path: `/${at + 1}`, content: "x" });
  const items = [...names, "report"];
  const plan = callTool("write_todos", { todos: making === "added" ? items.slice(0, 1) : items });
  const add = callTool("update_todos", { add: items.slice(1) });
  const tasks = names.map(task);
  const steps: Record<Making, Step[]> = {
    before: [plan, tasks],
    with: [[plan, ...tasks]],
    added: [plan, [add, ...tasks]],
  };
  const model = new ScriptedModel([...steps[making], callTool("ls", { path: "/" }), "Here is the report."]);
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

interface Member {
  item: number;
  end: "well" | "silent" | "open" | "failed";
  asks: boolean;
  isInBackground: boolean;
}

const ENDS: Record<Member["end"], Step[]> = {
  well: ["Found."],
  silent: Array<Step>(6).fill(""),
  open: [callTool("write_todos", { todos: ["look", "count"] }), ...Array<Step>(6).fill("I stopped.")],
  failed: [new Error("no model")],
};

/** Runs a team with several helpers on an item, and answers whoever asks until nobody does. */
async function runShared(
  team: readonly Member[],
  { order, isInOneMessage }: { order: readonly number[]; isInOneMessage: boolean },
) {
  const name = (at: number) => `helper-${at + 1}`;
  const tasks = team.map(({ item, isInBackground }, at) =>
    callTool("task", {
      subagent_type: name(at),
      description: name(at),
      todo_id: String(item),
      ...(isInBackground && { background: true }),
    }),
  );
  const plan = callTool("write_todos", { todos: ["one", "two", "report"] });
  const model = new ScriptedModel([
    ...(isInOneMessage ? [[plan, ...tasks]] : [plan, tasks]),
    callTool("ls", { path: "/" }),
    ...Array<Step>(12).fill("Here is the report."),
  ]);
  const agent = createDeepAgent({
    model,
    background: true,
    checkpointer: new MemorySaver(),
    interruptOn: { write_file: true },
    subagents: team.map(({ asks, end }, at) => ({
      name: name(at),
      description: name(at),
      model: new ScriptedModel([
        ...(asks ? [callTool("write_file", { file_path: `/${at}`, content: "x" })] : []),
        ...ENDS[end],
      ]),
    })),
  });
  const config = { configurable: { thread_id: "t" } };
  const stored = async () =>
    (await agent.graph.getState(config)).values as { todos: { id: string; status: string }[] };
  let result = (await agent.invoke({ messages: [new HumanMessage("go")] }, config)) as {
    __interrupt__?: Open[];
  };
  const early: string[] = [];
  for (let turn = 0; result.__interrupt__; turn += 1) {
    const { todos } = await stored();
    early.push(...todos.flatMap(({ id, status }) => (status === "completed" ? id : [])));
    const open = result.__interrupt__[order[turn % order.length]! % result.__interrupt__.length]!;
    const resume = { [open.id]: { type: "approve" } };
    result = (await agent.invoke(new Command({ resume }), config)) as typeof result;
  }
  const { todos } = await stored();
  return { model, early, statuses: todos.map(({ status }) => status) };
}

describe("an item with several helpers", () => {
  const member = fc.record({
    item: fc.constantFrom(1, 2),
    end: fc.constantFrom<Member["end"]>("well", "well", "well", "silent", "open", "failed"),
    asks: fc.boolean(),
    isInBackground: fc.boolean(),
  });
  const teams = fc
    .array(member, { minLength: 2, maxLength: 6 })
    .filter((team) => new Set(team.map(({ item }) => item)).size === 2);

  it("is completed only when all helpers ended well, after any kind of stop", async () => {
    const answers = fc.record({
      order: fc.array(fc.nat(5), { minLength: 1, maxLength: 6 }),
      isInOneMessage: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(teams, answers, async (team, how) => {
        const { model, early, statuses } = await runShared(team, how);
        const isWell = (item: number) => team.every((one) => one.item !== item || one.end === "well");
        const expected = [1, 2].map((item) => (isWell(item) ? "completed" : "in_progress"));
        expect(statuses.slice(0, 2)).toEqual(expected);
        for (const id of early) expect(isWell(Number(id))).toBe(true);
        expect(JSON.stringify(model.requests).includes("The user changed your plan")).toBe(false);
      }),
      { numRuns: rounds(40) },
    );
  });
});

describe("a team of which some ask for consent", () => {
  it.each(["before", "with", "added"] as const)(
    "keeps what later helpers completed before the run stopped (plan: %s)",
    async (making) => {
      const { model, statuses } = await runTeam({ asks: [true, false, false], approve: [0], making });
      expect(statuses).toEqual(["completed", "completed", "completed", "completed"]);
      expect(JSON.stringify(model.requests)).not.toContain("The user changed your plan");
    },
  );

  it("loses no completion for any askers and any order of answers", async () => {
    const teams = fc.array(fc.boolean(), { minLength: 2, maxLength: 5 }).chain((asks) => {
      const asking = asks.flatMap((isAsking, at) => (isAsking ? [at] : []));
      return fc.record({
        asks: fc.constant(asks),
        approve: fc.shuffledSubarray(asking, { minLength: asking.length }),
        making: fc.constantFrom<Making>("before", "with", "added"),
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
