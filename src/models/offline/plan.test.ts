import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import type { DeepAgentOptions } from "../../deep/options.ts";
import { type PlanChangeEvent, type PlanOptions, type Todo } from "../../index.ts";
import { OfflineModel } from "./model.ts";
import { SURVEY_STEPS } from "./survey/survey.ts";

const SURVEY = "Survey this directory";
const FILES = {
  "/package.json": '{"name":"small","dependencies":{"a":"1"}}',
  "/a/one.ts": "// TODO one\n",
  "/b/two.ts": "// TODO one\n",
};
const FOUND = "Leftover markers: 2 files\nDocuments: 0 files\nPackage manifests: 1 file\n";
const STEPS = SURVEY_STEPS.map(({ content }) => content);
const MARKERS = "Find leftover markers";
const DOCUMENTS = "Read the titles of documents";

type Change = (todos: Todo[]) => object[];
type Options = Pick<DeepAgentOptions, "summarization" | "without">;

/** A thread on a small directory under a preset, and a person who edits its plan. */
function threadOn(plan: PlanOptions, options: Options = {}) {
  const seen: Todo[][] = [];
  const onPlanChange = ({ owner, todos }: PlanChangeEvent): void => {
    if (owner === "main") seen.push([...todos]);
  };
  const agent = createDeepAgent({
    model: new OfflineModel(),
    checkpointer: new MemorySaver(),
    plan: { ...plan, onPlanChange },
    ...options,
  });
  const config = { configurable: { thread_id: "1" } };
  const read = async () => {
    const { values, tasks } = await agent.graph.getState(config);
    const { messages, todos = [] } = values as { messages: BaseMessage[]; todos?: Todo[] };
    const [asked] = tasks.flatMap(({ interrupts }) =>
      interrupts.map(({ value }) => value as { todos: Todo[] }),
    );
    return { messages, todos, proposed: asked?.todos ?? [], answer: messages.at(-1)!.text };
  };
  const ask = async (input: string | Command | null, more: object = {}) => {
    const sent = typeof input === "string" ? { messages: [new HumanMessage(input)], files: FILES } : input;
    await agent.invoke(sent as never, { ...config, ...more });
    return read();
  };
  const edit = async (change: Change): Promise<void> => {
    await agent.graph.updateState(config, { todos: change((await read()).todos) });
  };
  /** Runs until a turn with such a call has been proposed and not run, as if the process had been killed there. */
  const killedAt = async (words: string): Promise<void> => {
    const paused = { interruptBefore: ["tools"] };
    let { messages } = await ask(SURVEY, paused);
    while (!callsIn(messages.at(-1)!).includes(words)) ({ messages } = await ask(null, paused));
  };
  return { ask, edit, killedAt, seen };
}

function callsIn(message: BaseMessage): string {
  return JSON.stringify(AIMessage.isInstance(message) ? message.tool_calls : []);
}

const show = (todos: readonly Todo[]): string[] =>
  todos.map(({ content, status }) => `${content}: ${status}`);
const ALL = STEPS.map((content) => `${content}: completed`);
const inMyWords = (content: string): string => `In my words: ${content}`;
const renamed: Change = (todos) => todos.map((todo) => ({ ...todo, content: inMyWords(todo.content) }));
const without =
  (step: string): Change =>
  (todos) =>
    todos.filter(({ content }) => !content.includes(step));
const coffee = { content: "Make coffee", status: "pending" };

describe("the plan of the offline model", () => {
  it("a survey continues after a kill, and a second survey gets and completes a plan", async () => {
    const { ask, killedAt, seen } = threadOn({});
    await killedAt('"task"');
    const first = await ask(null);
    expect(first.answer).toContain(FOUND);
    expect(show(first.todos)).toEqual(ALL);
    seen.length = 0;
    const { answer, todos } = await ask("Survey again");
    expect(answer).toContain("Leftover markers: 2 files");
    expect(show(todos)).toEqual(ALL);
    const running = seen.map((list) => list.filter(({ status }) => status === "in_progress").length);
    expect(Math.max(...running)).toBe(3);
    // Every item was begun before it was done.
    const begun = STEPS.filter((step) =>
      seen.some((list) => list.some((todo) => todo.content === step && todo.status === "in_progress")),
    );
    expect(begun).toEqual(STEPS);
  });

  it("a survey respects the user's changes between two runs", async () => {
    const { ask, edit } = threadOn({});
    await expect(ask(SURVEY, { recursionLimit: 5 })).rejects.toThrow("Recursion limit");
    await edit((todos) => [...todos, coffee]);
    await edit((todos) =>
      todos.map((todo) =>
        todo.content.includes(MARKERS)
          ? { ...todo, status: "completed" }
          : { ...todo, ...(todo.dependsOn && { dependsOn: todo.dependsOn.filter((id) => id !== "5") }) },
      ),
    );
    await edit(without(DOCUMENTS));
    const { answer, todos } = await ask("Go on");
    expect(answer).toContain(`${DOCUMENTS} (it is not in the plan any more)`);
    expect(answer).toContain(`${MARKERS} (someone else marked it as completed)`);
    const left = STEPS.filter((step) => step !== DOCUMENTS);
    expect(show(todos)).toEqual([...left.map((step) => `${step}: completed`), "Make coffee: blocked"]);
  });

  it("a survey recognizes its steps in the user's words", async () => {
    const { ask, edit } = threadOn({});
    await expect(ask(SURVEY, { recursionLimit: 5 })).rejects.toThrow("Recursion limit");
    await edit(renamed);
    const { answer, todos } = await ask("Go on");
    expect(answer).toContain(FOUND);
    expect(show(todos)).toEqual(STEPS.map((step) => `${inMyWords(step)}: completed`));
  });

  it("nothing is planned after a rejection, and nothing is left open after a summary", async () => {
    const rejected = threadOn({ approval: "first" });
    await rejected.ask(SURVEY);
    const { answer, todos } = await rejected.ask(new Command({ resume: { type: "reject", reason: "no" } }));
    expect(answer).toBe("Nothing was surveyed. The user rejected this plan: no. It was not applied.");
    expect(todos).toEqual([]);

    const summarization = { trigger: { messages: 6 }, keep: { messages: 2 } };
    const short = threadOn({}, { summarization, without: ["SubagentsMiddleware"] });
    const end = await short.ask(SURVEY);
    expect(end.answer).toContain("cannot go on from a summary");
    expect(end.todos.every(({ status }) => status === "completed" || status === "cancelled")).toBe(true);
  });
});

it("a preset without partial updates has a survey without a plan", async () => {
  const { answer, todos } = await threadOn({ preset: "classic" }).ask(SURVEY);
  expect(answer).toContain(FOUND);
  expect(todos).toEqual([]);
});
