import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createAgent, toolStrategy } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { goalMiddleware, type GoalContext } from "./index.ts";

const go = { messages: [new HumanMessage("Release it")] };
const criteria = ["The tests pass", "The changelog names the change"];

it("a code judge checks the final answer, returns reasons, and accepts a better one", async () => {
  const model = new ScriptedModel([
    callTool("write_file", { file_path: "/a.txt", content: "a" }),
    "Released.",
    callTool("write_file", { file_path: "/CHANGELOG.md", content: "- a" }),
    "Released, with a changelog.",
  ]);
  const contexts: GoalContext[] = [];
  const judge = (context: GoalContext) => {
    contexts.push(context);
    return "/CHANGELOG.md" in (context.state["files"] as object) || "There is no changelog.";
  };
  const { messages, goal } = (await createDeepAgent({ model, goal: { criteria, judge } }).invoke(
    go,
  )) as never as {
    messages: AIMessage[];
    goal: unknown;
  };
  expect(contexts.map(({ answer }) => answer)).toEqual(["Released.", "Released, with a changelog."]);
  expect(messages.at(-1)!.text).toBe("Released, with a changelog.");
  expect(goal).toEqual({ met: true, reasons: [] });
  expect(model.requests[0]!.messages[0]!.text).toContain(`when:\n- ${criteria[0]}\n- ${criteria[1]}`);
  const reminder = model.requests[2]!.messages.at(-1)!;
  expect(reminder.name).toBe("goal_reminder");
  expect(reminder.text).toContain("- There is no changelog.");
  expect(messages.map(({ text }) => text)).toContain("Released.");
});

it("a chosen model judges the goal by the plan and the work", async () => {
  const model = new ScriptedModel([
    callTool("write_todos", { todos: ["Fix it"] }),
    callTool("write_file", { file_path: "/fix.txt", content: "fixed" }),
    "Fixed.",
    "Fixed and tested.",
  ]);
  const judge = new ScriptedModel(["1: not met: no test was run\n2: met", "1. **Met**\n2. met"]);
  const agent = createDeepAgent({ model, goal: { criteria, judge }, plan: { verify: false } });
  const { messages } = await agent.invoke(go);
  expect(messages.at(-1)!.text).toBe("Fixed and tested.");
  const [, asked] = judge.requests[0]!.messages;
  expect(asked!.text).toContain("1: The tests pass\n2: The changelog names the change");
  expect(asked!.text).toContain("Fix it");
  expect(asked!.text).toContain("Release it");
  expect(model.requests[3]!.messages.at(-1)!.text).toContain("- The tests pass: no test was run");
});

it("the agent's own model judges the goal by default, also in a lead agent", async () => {
  const model = new ScriptedModel(["Done.", "1: met"]);
  const agent = makeLeadAgent({}, { model, goal: { criteria: [criteria[0]!] } });
  const { messages } = await agent.invoke(go, { configurable: { thread_id: "goal" } });
  expect(messages.at(-1)!.text).toBe("Done.");
  expect(model.requests).toHaveLength(2);
});

it("the goal returns answers at most twice in one run, and records that in the state", async () => {
  const model = new ScriptedModel(["One.", "Two.", "Three."]);
  const agent = createDeepAgent({ model, goal: { criteria, judge: () => ["no tests", "no changelog"] } });
  const { messages, goal } = (await agent.invoke(go)) as never as { messages: AIMessage[]; goal: unknown };
  expect(messages.at(-1)!.text).toBe("Three.");
  expect(goal).toEqual({ met: false, reasons: ["no tests", "no changelog"] });
});

it("the goal returns no answer and asks no model judge when the budget is used up", async () => {
  const budget = { modelCalls: 1 };
  const code = new ScriptedModel(["One."]);
  const ended = await createDeepAgent({ model: code, budget, goal: { criteria, judge: () => false } }).invoke(
    go,
  );
  expect(ended.messages.at(-1)!.text).toBe("One.");
  const judge = new ScriptedModel([]);
  const unjudged = (await createDeepAgent({
    model: new ScriptedModel(["One."]),
    budget,
    goal: { criteria, judge },
  }).invoke(go)) as { goal?: { met?: boolean; reasons: string[] } };
  expect(judge.requests).toEqual([]);
  expect(unjudged.goal!.met).toBeUndefined();
  expect(unjudged.goal!.reasons[0]).toContain("Stopped after");
});

it("a failing judge does not block a run, and a stopped or asking run is not judged", async () => {
  const failing = createDeepAgent({
    model: new ScriptedModel(["One."]),
    goal: { criteria, judge: new ScriptedModel(["Looks good to me!"]) },
  });
  const { goal } = (await failing.invoke(go)) as { goal?: object };
  expect(goal).toEqual({ reasons: [expect.stringContaining('whether "The tests pass" is met')] });

  const judged: string[] = [];
  const judge = ({ answer }: GoalContext) => void judged.push(answer);
  const cut = new AIMessage({ content: "", response_metadata: { finish_reason: "length" } });
  await createDeepAgent({ model: new ScriptedModel([cut]), goal: { criteria, judge } }).invoke(go);
  const ask = tool(() => "asked", { name: "ask_user", description: "asks", schema: z.object({}) });
  const asking = new ScriptedModel([callTool("ask_user"), "Which one?"]);
  await createDeepAgent({ model: asking, tools: [ask], goal: { criteria, judge } }).invoke(go);
  expect(judged).toEqual([]);
});

it("the goal keeps a structured response unless a better one follows", async () => {
  const format = toolStrategy(z.object({ version: z.string() }));
  const name = format[0]!.name;
  const run = async (...steps: ConstructorParameters<typeof ScriptedModel>[0]) => {
    const agent = createDeepAgent({
      model: new ScriptedModel(steps),
      responseFormat: format,
      goal: { criteria, judge: ({ answer }) => !answer.includes("1.0") },
    });
    return ((await agent.invoke(go)) as { structuredResponse?: unknown }).structuredResponse;
  };
  expect(await run(callTool(name, { version: "1.0" }), callTool(name, { version: "1.1" }))).toEqual({
    version: "1.1",
  });
  expect(await run(callTool(name, { version: "1.0" }), "It stays as it is.")).toEqual({ version: "1.0" });
});

it("the goal middleware works in a plain agent and refuses options that cannot work", async () => {
  const model = new ScriptedModel(["One.", "Two."]);
  const middleware = [goalMiddleware({ criteria, judge: ({ answer }) => answer === "Two." })] as const;
  const { messages, goal } = await createAgent({ model, middleware }).invoke(go);
  expect(messages.at(-1)!.text).toBe("Two.");
  expect(goal).toEqual({ met: true, reasons: [] });
  expect(() => goalMiddleware({ criteria: [] })).toThrow("criteria: must name a criterion");
  expect(() => goalMiddleware({ criteria })).toThrow("judge: must be a function or a model");
});
