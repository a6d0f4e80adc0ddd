import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

const say = (text: string) => ({ messages: [new HumanMessage(text)] });
const task = callTool("task", { description: "Judge it.", subagent_type: "judge" });
const resultOf = (messages: BaseMessage[]): ToolMessage =>
  messages.find((message) => ToolMessage.isInstance(message))!;

it("the result of a task is the report alone, and its artifact has the verdict", async () => {
  const resultFrom = async (answers: (string | ReturnType<typeof callTool>)[]): Promise<ToolMessage> => {
    const agent = createDeepAgent({
      model: new ScriptedModel([task, "Judged."]),
      subagents: [{ name: "judge", description: "judges", model: new ScriptedModel(answers) }],
    });
    const { messages } = await agent.invoke(say("go"));
    return resultOf(messages);
  };
  const done = await resultFrom(['{"score":7}']);
  expect(JSON.parse(done.text)).toEqual({ score: 7 });
  expect(done.artifact).toEqual({ result: "done" });

  const plan = callTool("write_todos", { todos: ["look", "count"] });
  const part = await resultFrom([plan, ...Array<string>(4).fill('{"score":1}')]);
  expect(part.text).toBe('{"score":1}');
  expect(part.artifact).toEqual({
    result: "part",
    reason: "2 of 2 items of its plan are open: look; count",
  });
});
