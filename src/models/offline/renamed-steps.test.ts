import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import type { DeepAgentOptions } from "../../deep/options.ts";
import type { Todo } from "../../index.ts";
import { OfflineModel } from "./model.ts";

const SURVEY = "Survey this directory";
const FILES = {
  "/package.json": '{"name":"small","dependencies":{"a":"1"}}',
  "/a/one.ts": "// TODO one\n",
  "/b/two.ts": "// TODO one\n",
};
const FOUND = "Leftover markers: 2 files\nDocuments: 0 files\nPackage manifests: 1 file\n";
const coffee = { content: "Make coffee", status: "pending" };

type Change = (todos: Todo[]) => object[];

/** A thread on a small directory, and a person who edits its plan. */
function threadOn(plan: DeepAgentOptions["plan"] = {}) {
  const agent = createDeepAgent({
    model: new OfflineModel(),
    checkpointer: new MemorySaver(),
    plan,
  });
  const config = { configurable: { thread_id: "1" } };
  const ask = async (input: string | Command | null, more: object = {}) => {
    const sent = typeof input === "string" ? { messages: [new HumanMessage(input)], files: FILES } : input;
    await agent.invoke(sent as never, { ...config, ...more });
    return read();
  };
  const read = async () => {
    const { values, tasks } = await agent.graph.getState(config);
    const { messages, todos = [] } = values as { messages: BaseMessage[]; todos?: Todo[] };
    const asked = tasks.flatMap(({ interrupts }) =>
      interrupts.map(({ value }) => value as { todos: Todo[] }),
    );
    return { messages, todos, proposed: asked[0]?.todos ?? [], answer: messages.at(-1)!.text };
  };
  const edit = async (change: Change): Promise<void> => {
    await agent.graph.updateState(config, { todos: change((await read()).todos) });
  };
  /** Runs until a turn with such a call has been proposed and not run, as if the process had been killed there. */
  const killedAt = async (words: string): Promise<void> => {
    let { messages } = await ask(SURVEY, { interruptBefore: ["tools"] });
    while (!callsIn(messages.at(-1)!).includes(words)) {
      ({ messages } = await ask(null, { interruptBefore: ["tools"] }));
    }
  };
  return { ask, edit, killedAt };
}

function callsIn(message: BaseMessage): string {
  return JSON.stringify(AIMessage.isInstance(message) ? message.tool_calls : []);
}

const without =
  (id: string): Change =>
  (todos) =>
    todos
      .filter((todo) => todo.id !== id)
      .map((todo) => ({ ...todo, dependsOn: todo.dependsOn?.filter((other) => other !== id) ?? [] }));
const renamed: Change = (todos) => todos.map((todo) => ({ ...todo, content: `In my words: ${todo.id}` }));
const statuses = (todos: readonly Todo[]): string =>
  todos.map(({ id, status }) => `${id} ${status}`).join(", ");
const completed = (first: number): string =>
  Array.from({ length: 8 }, (_, at) => `${first + at} completed`).join(", ");

describe("a step whose item the user reworded", () => {
  it("is done when the plan was edited before it was approved", async () => {
    const { ask } = threadOn({ approval: "first" });
    const { proposed } = await ask(SURVEY);
    const todos = [coffee, ...renamed(proposed)];
    const { answer, todos: done } = await ask(new Command({ resume: { type: "edit", todos } }));
    expect(answer).toContain(FOUND);
    expect(answer).not.toContain("Left out");
    expect(statuses(done)).toBe(`9 blocked, ${completed(1)}`);
    expect(done[0]!.note).toBe("a program in a model's place cannot do it");
    expect(done[4]!.content).toBe("In my words: 4");
  });

  it("is left out when its item is removed, and an item with its old words restores it", async () => {
    for (const added of [{ content: "Find leftover markers" }, coffee]) {
      const { ask } = threadOn({ approval: "first" });
      const { proposed } = await ask(SURVEY);
      const todos = [...renamed(without("4")(proposed) as Todo[]), added];
      const { answer, todos: done } = await ask(new Command({ resume: { type: "edit", todos } }));
      const isStep = added !== coffee;
      expect(done.at(-1)).toMatchObject({ ...added, status: isStep ? "completed" : "blocked" });
      const leftOut = answer.includes("Left out: Find leftover markers (it is not in the plan any more).");
      expect(leftOut).toBe(!isStep);
    }
  });

  it.each([
    ["resumed", null],
    ["asked to go on", "Go on"],
  ])("is done when the plan was edited between two runs and it is %s", async (_, input) => {
    const { ask, edit } = threadOn();
    await expect(ask(SURVEY, { recursionLimit: 5 })).rejects.toThrow("Recursion limit");
    await edit((todos) => [...renamed(todos), coffee]);
    const { answer, todos } = await ask(input);
    expect(answer).toContain(FOUND);
    expect(statuses(todos)).toBe(`${completed(1)}, 9 blocked`);
  });

  it.each(["update_todos", "task", "ls"])("is done when %s was waiting meanwhile", async (name) => {
    const { ask, edit, killedAt } = threadOn();
    await killedAt(name);
    await edit((todos) => [...renamed(todos), coffee]);
    const { messages } = await ask(null, { interruptBefore: ["tools"] });
    const { answer, todos } = await ask(null);
    expect(messages.some(({ text }) => text.includes("before this call"))).toBe(name !== "ls");
    expect(answer).toContain(FOUND);
    expect(statuses(todos)).toBe(`${completed(1)}, 9 blocked`);
  });

  it("is done when the waiting call was refused, since its item is gone", async () => {
    const { ask, edit, killedAt } = threadOn();
    await killedAt('"done":"2"');
    await edit((todos) => [...renamed(without("2")(todos) as Todo[]), coffee]);
    const { answer, todos, messages } = await ask(null);
    expect(messages.some(({ text }) => /there is no item 2.*\n.*\n.*before this call/.test(text))).toBe(true);
    expect(answer).toContain(FOUND);
    expect(statuses(todos)).toBe(`${completed(1).replace("2 completed, ", "")}, 9 blocked`);
  });
});

describe("a second plan in the thread", () => {
  it.each([
    ["is told of it", {}],
    ["is not told of it", { reminders: false as const }],
  ])("continues the ids after the user emptied the first plan, and the model %s", async (_, plan) => {
    const { ask, edit } = threadOn(plan);
    await ask(SURVEY);
    await edit(() => []);
    await expect(ask("Survey again", { recursionLimit: 5 })).rejects.toThrow("Recursion limit");
    await edit(renamed);
    const { answer, todos } = await ask(null);
    expect(answer).toContain(FOUND);
    expect(statuses(todos)).toBe(completed(9));
    expect(todos[3]!.content).toBe("In my words: 12");
  });
});
