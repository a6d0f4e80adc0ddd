import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { taskInput } from "../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunEvent } from "../events/events.ts";
import { threadOf } from "../log/thread.ts";
import { transcript } from "../log/transcript.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { replay } from "../record/replay.ts";
import { Thread } from "../thread/thread.ts";
import { copyThread } from "../undo/copy-thread.ts";
import { earlierMessages, compactAt, takeBack } from "../undo/earlier-messages.ts";
import { EMPTY_VIEW, reduce } from "../view/view.ts";
import { runThread, RunEvents } from "./run-thread.ts";

/** Calls a tool so often for each message of the user, and notes the number of the summary that it sees. */
function talker(calls: Record<string, number>) {
  const seen: { summary: number; words: string[] }[] = [];
  let made = 0;
  const step: Step = ({ messages }) => {
    const all = messages.map(({ text }) => text).join("\n");
    const number = Math.max(0, ...[...all.matchAll(/SUMMARY-(\d+)\./g)].map(([, n]) => Number(n)));
    if (messages.at(-1)!.text.includes("Write the summary under these headings"))
      return `SUMMARY-${number + 1}.`;
    const words = Object.keys(calls).filter((word) => all.includes(word));
    seen.push({ summary: number, words });
    made += 1;
    return made % (calls[words.at(-1)!]! + 1) === 0
      ? ((made = 0), "Done.")
      : callTool("ls", { path: `/${made}` });
  };
  return { model: new ScriptedModel([step], { loop: true }), seen };
}

const settings = { ...DEFAULT_SETTINGS, model: "scripted", plan: false };

it("a summarized thread is shown whole, live and later, with a mark at the summary", async () => {
  const checkpointer = await sqliteSaver(":memory:");
  let calls = 0;
  const step: Step = ({ messages }) => {
    if (messages.at(-1)!.text.includes("Write the summary under these headings")) {
      const usage_metadata = { input_tokens: 300, output_tokens: 20, total_tokens: 320 };
      return Object.assign(new AIMessage("SUMMARY"), { usage_metadata });
    }
    calls += 1;
    return calls < 7 ? callTool("ls", { path: "/", sizes: calls % 2 === 0 }) : "Done.";
  };
  const model = new ScriptedModel([step], { loop: true });
  const agent = createRunAgent({ settings, model, checkpointer, compactAt: 10 });
  const live: RunEvent[] = [];
  await runThread(taskInput("Look around", { run: settings }), {
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
    // Its own tokens are spent, too.
    expect(events.reduce(reduce, EMPTY_VIEW).usage).toMatchObject({ inputTokens: 300, outputTokens: 20 });
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
  expect(await compactAt(new Thread(reader, "t"))).toBe(8);
});

describe("in a summarized thread,", () => {
  const calls = { "Look first": 1, "Look long": 7, "Look again": 1, "Look back": 1 };
  const setUp = async () => {
    const checkpointer = await sqliteSaver(":memory:");
    const { model, seen } = talker(calls);
    const agent = createRunAgent({ settings, model, checkpointer, compactAt: 16 });
    const say = (text: string, thread = "t") =>
      agent.graph.invoke(taskInput(text, { run: settings }) as never, {
        configurable: { thread_id: thread },
      });
    const told = async (thread = "t") => {
      const events = await replay(new Thread(agent, thread));
      const text = transcript(events);
      return {
        marks: events.filter(({ type }) => type === "summary").length,
        words: Object.keys(calls).filter((word) => text.includes(word)),
        results: events.filter(({ type }) => type === "tool-end").length,
        entries: threadOf({ events, questions: [] }).entries,
      };
    };
    /** The checkpoint before a message. */
    const before = async (words: string): Promise<string> => {
      for await (const message of earlierMessages(new Thread(agent, "t")))
        if (message.text === words) return message.before!;
      throw new Error(words);
    };
    await say("Look first");
    await say("Look long");
    await say("Look again");
    const all = { marks: 1, words: ["Look first", "Look long", "Look again"], results: 9 };
    expect(await told()).toMatchObject(all);
    expect(seen.at(-1)).toEqual({ summary: 1, words: all.words });
    return { agent, checkpointer, seen, say, told, before, all };
  };

  it("an undo to before the summary removes it, and requests have the messages again", async () => {
    const { agent, seen, say, told, before } = await setUp();
    await takeBack(new Thread(agent, "t"), await before("Look long"));
    expect(await told()).toMatchObject({ marks: 0, words: ["Look first"], results: 1 });
    seen.length = 0;
    await say("Look back");
    expect(seen).toEqual(
      Array.from({ length: 2 }, () => ({ summary: 0, words: ["Look first", "Look back"] })),
    );
    expect(await told()).toMatchObject({ marks: 0, words: ["Look first", "Look back"], results: 2 });
  });

  it("an undo to after the summary keeps it and all earlier messages", async () => {
    const { agent, seen, say, told, before } = await setUp();
    await takeBack(new Thread(agent, "t"), await before("Look again"));
    seen.length = 0;
    await say("Look back");
    const words = ["Look first", "Look long", "Look back"];
    expect(seen).toEqual(Array.from({ length: 2 }, () => ({ summary: 1, words })));
    const { entries, ...rest } = await told();
    expect(rest).toEqual({ marks: 1, words, results: 9 });
    expect(entries.filter(({ kind }) => kind === "notice")).toHaveLength(1);
  });

  it("a fork from before the summary has none, a later fork does, the thread is whole", async () => {
    const { checkpointer, seen, say, told, before, all } = await setUp();
    await copyThread(checkpointer, { from: "t", to: "early", checkpoint: await before("Look long") });
    await copyThread(checkpointer, { from: "t", to: "late", checkpoint: await before("Look again") });
    expect(await told("early")).toMatchObject({ marks: 0, words: ["Look first"], results: 1 });
    expect(await told("late")).toMatchObject({ marks: 1, words: ["Look first", "Look long"], results: 8 });
    seen.length = 0;
    await say("Look back", "early");
    await say("Look back", "late");
    expect(seen.map(({ summary }) => summary)).toEqual([0, 0, 1, 1]);
    expect(seen[2]!.words).toEqual(["Look first", "Look long", "Look back"]);
    expect(await told("late")).toMatchObject({ marks: 1, results: 9 });
    expect(await told()).toMatchObject(all);
  });
});
