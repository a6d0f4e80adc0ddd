import { expect, it } from "vitest";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunEvent } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { replay } from "../record/replay.ts";
import { threadOf } from "../story/thread.ts";
import { transcript } from "../story/transcript.ts";
import { Thread } from "../thread/thread.ts";
import { earlierMessages, messageCount } from "../undo/earlier-messages.ts";
import { conduct, RunEvents } from "./conduct.ts";
import { taskInput } from "./drive.ts";

const settings = { ...DEFAULT_SETTINGS, model: "scripted", plan: false };

it("a thread that was summarized is told whole, live and later, with a mark where it was summarized", async () => {
  const checkpointer = await sqliteSaver(":memory:");
  let calls = 0;
  const step: Step = ({ messages }) => {
    if (messages.at(-1)!.text.includes("Write the summary under these headings")) return "SUMMARY";
    calls += 1;
    return calls < 7 ? callTool("ls", { path: "/", sizes: calls % 2 === 0 }) : "Done.";
  };
  const model = new ScriptedModel([step], { loop: true });
  const agent = createRunAgent({ settings, model, checkpointer, compactAt: 10 });
  const live: RunEvent[] = [];
  await conduct(taskInput("Look around", { run: settings }), {
    thread: new Thread(agent, "t"),
    held: async () => {},
    model: { model, name: "scripted", source: "option" },
    events: new RunEvents("t", (event) => void live.push(event)),
    task: "Look around",
    resumed: false,
    signal: new AbortController().signal,
    answer: async () => undefined,
  });
  const reader = createRunAgent({ settings, checkpointer });
  const later = await replay(new Thread(reader, "t"));
  for (const events of [live, later]) {
    const marks = events.filter(({ type }) => type === "summary");
    expect(marks).toHaveLength(1);
    expect(marks[0]).toMatchObject({ owner: "main", number: 1, messages: 7 });
    expect(events.filter(({ type }) => type === "tool-end")).toHaveLength(6);
    // Before the answer that was given on it.
    const at = events.findIndex(({ type }) => type === "summary");
    expect(events.slice(0, at).filter(({ type }) => type === "tool-end")).toHaveLength(5);
    const told = transcript(events);
    expect(told).toContain("## You\n\nLook around");
    expect(told).toContain("*Summarized 7 earlier messages (about ");
  }
  const { entries } = threadOf({ events: later, questions: [] });
  expect(entries.filter(({ kind }) => kind === "notice")).toHaveLength(1);
  const said: string[] = [];
  for await (const { text } of earlierMessages(new Thread(reader, "t"))) said.push(text);
  expect(said).toEqual(["Look around"]);
  const { values } = await new Thread(reader, "t").state();
  expect((values as { messages: unknown[] }).messages).toHaveLength(14);
  expect(await messageCount(new Thread(reader, "t"))).toBe(8);
});
