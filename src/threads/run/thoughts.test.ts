import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunEventBody } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";

const THOUGHT = "<think>\nHm, what do they want?\n</think>\n\n";
const go = { messages: [new HumanMessage("go")] };

async function run(steps: Step[]) {
  const model = new ScriptedModel(steps);
  const settings = { ...DEFAULT_SETTINGS, model: "scripted", plan: false };
  const agent = createRunAgent({ settings, model, checkpointer: new MemorySaver() });
  const events: RunEventBody[] = [];
  const end = await runGraph(taskInput("Go", {}), {
    thread: new Thread(agent, "t"),
    model: { model, name: "scripted", source: "option" },
    emit: (event) => void events.push(event),
    signal: new AbortController().signal,
    answer: () => Promise.resolve(undefined),
  });
  return { end, events, model, thread: await new Thread(agent, "t").content() };
}

it("a model's thoughts are in the events only, not in an answer or sub-agent report", async () => {
  const look = callTool("task", { description: "Look", subagent_type: "general-purpose" });
  const { end, events, model, thread } = await run([look, `${THOUGHT}Nothing there.`, `${THOUGHT}Done.`]);
  expect(end.answer).toBe("Done.");
  expect(thread.answer).toBe("Done.");
  const ends = events.flatMap((event) => (event.type === "model-end" ? [event] : []));
  expect(ends.map(({ thoughts }) => thoughts)).toEqual([
    undefined,
    "Hm, what do they want?",
    "Hm, what do they want?",
  ]);
  expect(ends.map(({ text }) => text).join()).not.toContain("what do they want");
  const said = events.flatMap((event) =>
    event.type === "text" && event.owner === "main" ? [event.text] : [],
  );
  expect(said.join("")).toBe("Done.");
  expect(model.requests.at(-1)!.messages.at(-1)!.text).toBe("Nothing there.");
});

it("a provider's thoughts come in pieces, then whole, also from the saved thread", async () => {
  const answer = new AIMessage({
    content: [
      { type: "reasoning", reasoning: "Hm, the sea." },
      { type: "text", text: "Done." },
    ],
  });
  const { events, thread } = await run([answer]);
  const pieces = events.flatMap((event) => (event.type === "thought" ? [event.text] : []));
  expect(pieces.join("")).toBe("Hm, the sea.");
  expect(events.find((event) => event.type === "model-end")).toMatchObject({
    text: "Done.",
    thoughts: "Hm, the sea.",
  });
  expect(thread.answer).toBe("Done.");
});

it("thinking whose opening was not sent is withdrawn when its end comes", async () => {
  const { end, events } = await run(["Hm, what do they want?\n</think>\n\nDone, all of it."]);
  expect(end.answer).toBe("Done, all of it.");
  const texts = events.filter((event) => event.type === "text");
  expect(texts.filter(({ anew }) => anew)).toHaveLength(1);
  const begins = texts.findIndex(({ anew }) => anew);
  expect(begins).toBeGreaterThan(0);
  expect(
    texts
      .slice(begins)
      .map(({ text }) => text)
      .join(""),
  ).toBe("Done, all of it.");
});

it("an answer of which only the thinking came is none", async () => {
  const { end, thread } = await run([callTool("ls", { path: "/" }), "<think>Hm, what"]);
  expect(end.answer).toBeUndefined();
  expect(thread.answer).toBe("");
});

it("a title has no thinking in it", async () => {
  const titled = async (text: string) => {
    const title = { model: { invoke: () => Promise.resolve(new AIMessage(text)) } };
    const agent = makeLeadAgent({}, { model: new ScriptedModel(["ok"]), title });
    return (await agent.invoke(go)).title;
  };
  expect(await titled(`${THOUGHT}"A walk"`)).toBe("A walk");
  expect(await titled("Hm.\n</think>\nA walk")).toBe("A walk");
  expect(await titled("<think>Hm, what")).toBe("go");
});

it("a summary has no thinking in it, and is none when there is nothing else", async () => {
  const note = tool(() => "noted", { name: "note", description: "n", schema: z.object({}) });
  const summarized = async (summary: string) => {
    const model = new ScriptedModel([callTool("note"), callTool("note"), "done"]);
    const summarization = {
      model: new ScriptedModel([summary], { loop: true }),
      trigger: { messages: 4 },
      keep: { messages: 2 },
    };
    const agent = createDeepAgent({ model, tools: [note], plan: false, summarization });
    await agent.invoke(go);
    return model.requests.at(-1)!.messages[1]!.text;
  };
  expect(await summarized(`${THOUGHT}They talked.`)).toContain("<summary>\nThey talked.\n</summary>");
  expect(await summarized("<think>Hm, what")).toBe("go");
});

it("an agent's own messages stay as the model sent them", async () => {
  const model = new ScriptedModel([`${THOUGHT}Done.`]);
  const { messages } = await createDeepAgent({ model, plan: false }).invoke(go);
  expect(messages.at(-1)!.text).toBe(`${THOUGHT}Done.`);
});
