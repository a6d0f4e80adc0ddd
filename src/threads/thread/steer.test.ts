import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { PlanEdits } from "../plan/plan-edits.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import { Thread } from "./thread.ts";

const LOOK = callTool("ls", { path: "/" });

async function run(steps: (say: (words: string) => void) => Step[], settings: Partial<RunSettings> = {}) {
  const edits = new PlanEdits();
  const heard: unknown[] = [];
  const say = (words: string): void => {
    void edits.say(words).then(
      () => heard.push(words),
      (error: { code?: string }) => heard.push(error.code),
    );
  };
  const model = new ScriptedModel(steps(say));
  const checkpointer = await sqliteSaver(":memory:");
  const agent = createRunAgent({
    settings: { ...DEFAULT_SETTINGS, model: "scripted", plan: false, ...settings },
    model,
    checkpointer,
  });
  const end = await runGraph(taskInput("Go", {}), {
    thread: new Thread(agent, "t"),
    model: { model, name: "scripted", source: "option" },
    emit: () => {},
    signal: new AbortController().signal,
    answer: async () => {
      say("While you wait");
      expect(await new Thread(agent, "t").questions()).toHaveLength(1);
      return { type: "approve" };
    },
    edits,
  });
  return { end, model, heard };
}

const kinds = (messages: readonly BaseMessage[] = []): string[] =>
  messages.flatMap((message) =>
    message.getType() === "system"
      ? []
      : HumanMessage.isInstance(message)
        ? [`human ${message.text}`]
        : [message.getType()],
  );

it("a message sent while calls are due comes after their results, in the next call", async () => {
  const { end, model, heard } = await run((say) => [
    () => {
      say("Be brief");
      return [LOOK, LOOK];
    },
    "Done.",
  ]);
  expect(kinds(model.requests[1]?.messages)).toEqual(["human Go", "ai", "tool", "tool", "human Be brief"]);
  expect(heard).toEqual(["Be brief"]);
  expect(end.outcome).toBe("done");
});

it("several words arrive in their order, and stay where they were said", async () => {
  const { model, heard } = await run((say) => [
    () => {
      say("One");
      say("Two");
      return LOOK;
    },
    LOOK,
    "Done.",
  ]);
  const last = ["human Go", "ai", "tool", "human One", "human Two", "ai", "tool"];
  expect(kinds(model.requests[2]?.messages)).toEqual(last);
  expect(heard).toEqual(["One", "Two"]);
});

it("a message sent during the last answer is refused, so it can be the next task", async () => {
  const { end, heard } = await run((say) => [
    () => {
      say("Too late");
      return "Done.";
    },
  ]);
  expect(end.outcome).toBe("done");
  expect(heard).toEqual(["run-ended"]);
});

it("a message sent while a call waits for consent comes after its result", async () => {
  const { model, heard } = await run(() => [LOOK, "Done."], { ask: ["ls"] });
  expect(kinds(model.requests[1]?.messages)).toEqual(["human Go", "ai", "tool", "human While you wait"]);
  expect(heard).toEqual(["While you wait"]);
});
