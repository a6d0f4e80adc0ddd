import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, summarizationMiddleware as langchainSummarization, tool } from "langchain";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeLeadAgent } from "../../../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { type PresetName } from "../../../vocabulary.ts";
import { summarizationMiddleware } from "../../summarization/index.ts";
import { planMiddleware } from "../index.ts";

const baseDir = mkdtempSync(join(tmpdir(), "holdfast-reminder-"));
afterAll(() => rmSync(baseDir, { recursive: true }));

type Middleware = ReturnType<typeof planMiddleware>;

const work = tool(({ n }) => `worked ${n}`, {
  name: "work",
  description: "w",
  schema: z.object({ n: z.number() }),
});
const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "1", is_plan_mode: true }, recursionLimit: 100 };
const LIST = ["Read", "Build"].map((text) => ({ text, content: text, status: "pending" }));
const ROUNDS = 8;

/** A plan, many rounds of work without another plan call, and the end. */
const script = (preset: PresetName): Step[] => [
  preset === "checklist" ? callTool("todo", { items: LIST }) : callTool("write_todos", { todos: LIST }),
  ...Array.from({ length: ROUNDS }, (_, n) => callTool("work", { n })),
  "?",
];

const size = { trigger: { messages: 6 }, keep: { messages: 2 } };
const summarizer = () => new ScriptedModel(["They talked."], { loop: true });
const theirs = (): Middleware =>
  langchainSummarization({ model: summarizer(), ...size }) as unknown as Middleware;
const ours = (): Middleware =>
  summarizationMiddleware({ model: summarizer(), ...size }) as unknown as Middleware;

/** In how many messages each request shows the plan: the write itself, or reminders. */
function shownIn(model: ScriptedModel): number[] {
  return model.requests.map(
    ({ messages }) =>
      messages.filter((message) => message.name === "todo_reminder" || isWrite(message)).length,
  );
}

function isWrite(message: object): boolean {
  const { tool_calls: calls = [] } = message as { tool_calls?: { name: string }[] };
  return calls.some(({ name }) => name === "write_todos" || name === "todo");
}

const ALWAYS = [0, ...Array<number>(ROUNDS + 1).fill(1)];

describe("a plan that a summary took away is shown exactly once in each request", () => {
  const arrangements: [string, (plan: Middleware) => Middleware[]][] = [
    ["in front of LangChain's summarization", (plan) => [plan, theirs()]],
    ["behind LangChain's summarization", (plan) => [theirs(), plan]],
    ["in front of ours", (plan) => [plan, ours()]],
    ["behind ours", (plan) => [ours(), plan]],
  ];
  const presets = ["lean", "classic", "deerflow", "checklist"] as const;
  const cases = arrangements.flatMap(([where, arrange]) =>
    presets.flatMap((preset) => [true, false].map((persist) => ({ where, arrange, preset, persist }))),
  );

  it.each(cases)("$preset $where, persistent: $persist", async ({ arrange, preset, persist }) => {
    const model = new ScriptedModel(script(preset));
    const plan = planMiddleware({ preset, reminders: { persist, exit: false } });
    const agent = createAgent({ model, tools: [work], middleware: arrange(plan) });
    await agent.invoke(go, config);
    expect(shownIn(model)).toEqual(ALWAYS);
  });

  it("in the lead agent's own chain", async () => {
    const model = new ScriptedModel(script("deerflow"));
    const agent = makeLeadAgent(config, {
      model,
      baseDir,
      tools: [work],
      summarization: { ...size, model: summarizer() },
      plan: { reminders: { exit: false } },
    });
    await agent.invoke(go, config);
    expect(shownIn(model)).toEqual(ALWAYS);
  });

  it("after a user's edit, with the edited items", async () => {
    const model = new ScriptedModel(script("deerflow"));
    const agent = createAgent({
      model,
      tools: [work],
      middleware: [
        theirs(),
        planMiddleware({ preset: "deerflow", reminders: { exit: false } }) as Middleware,
      ],
      checkpointer: new MemorySaver(),
    });
    const paused: object = { ...config, interruptBefore: ["tools"] };
    await agent.invoke(go, paused);
    while (model.requests.length < 6) await agent.invoke(null, paused);
    await agent.graph.updateState(config, { todos: [{ id: "1", content: "Study", status: "in_progress" }] });
    await agent.invoke(null, config);
    const reminders = model.requests
      .slice(7)
      .map(({ messages }) => messages.filter(({ name }) => name === "todo_reminder").map(({ text }) => text));
    for (const texts of reminders) expect(texts).toEqual([expect.stringContaining("[>] 1: Study")]);
  });
});
