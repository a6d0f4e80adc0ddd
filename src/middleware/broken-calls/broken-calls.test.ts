import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { sqliteSaver, type SqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { planMiddleware } from "../plan/index.ts";

const go = { messages: [new HumanMessage("go")] };
const LOOK = callTool("ls", { path: "/" });

/** A message whose only call has arguments that are no JSON. */
const broken = (finish_reason = "tool_calls"): AIMessage =>
  new AIMessage({
    content: "",
    invalid_tool_calls: [
      { type: "invalid_tool_call", id: "1", name: "ls", args: '{"path": "', error: "no JSON" },
    ],
    response_metadata: { finish_reason },
  });

const asked = (messages: readonly BaseMessage[]): string[] =>
  messages.filter(({ name }) => name === "tool_call_reminder").map(({ text }) => text);

interface Given {
  model: ScriptedModel;
  checkpointer: SqliteSaver;
}
/** What a deep agent and a lead agent have in common. */
interface Runs {
  invoke: (input: object, config: object) => Promise<unknown>;
  graph: { getState: (config: object) => Promise<{ values: unknown }> };
}

async function deep(steps: Step[], options: Parameters<typeof createDeepAgent>[0] = { plan: false }) {
  const model = new ScriptedModel(steps);
  const { messages } = (await createDeepAgent({ ...options, model }).invoke(go)) as {
    messages: BaseMessage[];
  };
  return { model, messages };
}

describe("an agent without a plan", () => {
  it.each([60, 2_500])(
    "asks the model again for a call nested too deeply for any checkpoint (%i)",
    async (depth) => {
      let value: unknown = "x";
      for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { a: value };
      const nested = callTool("ls", { path: "/", value });
      const config = { configurable: { thread_id: "t" } };
      const helper = { name: "helper", description: "Helps.", plan: false as const };
      const task = callTool("task", { description: "Look", subagent_type: helper.name });
      const leadOptions = {
        baseDir: mkdtempSync(join(tmpdir(), "holdfast-nested-")),
        title: { model: new ScriptedModel(["T"]) },
      };
      const agents: [Step[], (options: Given) => object][] = [
        [[nested, LOOK, "Done."], (options) => createDeepAgent({ ...options, plan: false })],
        [[[nested, LOOK], "Done."], (options) => createDeepAgent({ ...options, plan: false })],
        [
          [task, nested, LOOK, "Seen.", "Done."],
          (options) => createDeepAgent({ ...options, subagents: [helper] }),
        ],
        [[nested, LOOK, "Done."], (options) => makeLeadAgent(config, { ...options, ...leadOptions })],
      ];
      for (const [steps, make] of agents) {
        const checkpointer = await sqliteSaver(":memory:");
        const agent = make({ model: new ScriptedModel(steps), checkpointer }) as Runs;
        await agent.invoke(go, config);
        const { messages } = (await agent.graph.getState(config)).values as { messages: BaseMessage[] };
        expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai"]);
        expect(messages.at(-1)!.text).toBe("Done.");
        checkpointer.close();
      }
    },
  );

  it("asks the model again for an unreadable call, and continues", async () => {
    const { model, messages } = await deep([broken(), LOOK, "Done."]);
    expect(asked(model.requests[1]!.messages)).toEqual([
      "<system_reminder>Not run: the arguments of your call to ls were not valid JSON: they end at character 10, unclosed. Call it again.</system_reminder>",
    ]);
    expect(messages.map((message) => message.type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(
      messages.some((message) => AIMessage.isInstance(message) && message.invalid_tool_calls?.length),
    ).toBe(false);
    expect(asked(messages)).toEqual([]);
  });

  it("hears that its call was cut off", async () => {
    const { model } = await deep([broken("length"), "Done."]);
    expect(asked(model.requests[1]!.messages)[0]).toContain("cut off at the output limit");
  });

  it("is asked twice in a row at most", async () => {
    const { model, messages } = await deep([broken(), broken(), broken(), LOOK]);
    expect(model.requests).toHaveLength(3);
    expect((messages.at(-1) as AIMessage).invalid_tool_calls).toHaveLength(1);
  });

  it("may be a sub-agent", async () => {
    const task = callTool("task", { description: "Look", subagent_type: "general-purpose" });
    const { messages } = await deep([task, broken(), LOOK, "Seen.", "Done."]);
    expect(messages.findLast((message) => ToolMessage.isInstance(message))!.text).toBe("Seen.");
  });

  it("may be a lead agent", async () => {
    const model = new ScriptedModel([broken(), LOOK, "Done."]);
    const baseDir = mkdtempSync(join(tmpdir(), "holdfast-broken-"));
    const config = { configurable: { thread_id: "t" } };
    const title = { model: new ScriptedModel(["T"]) };
    const { messages } = await makeLeadAgent(config, { model, baseDir, title }).invoke(go, config);
    expect(messages.at(-1)!.text).toBe("Done.");
  });
});

it("an agent with a plan, by default or of the user's, is not asked twice as often", async () => {
  for (const options of [{}, { plan: false as const, middleware: [planMiddleware()] }]) {
    const { model } = await deep([broken(), broken(), broken(), LOOK], options);
    expect(model.requests).toHaveLength(3);
  }
});
