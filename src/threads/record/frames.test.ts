import { HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { STORES } from "../../../test/helpers/postgres/stores.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";
import { replay } from "./replay.ts";

const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
const config = { configurable: { thread_id: "t" } };

describe.each(STORES)("the replay of a thread in $name", ({ create }) => {
  async function stage() {
    const place = await create();
    const saver = await place.open();
    onTestFinished(async () => {
      await saver.close();
      place.remove();
    });
    let turn = 0;
    const model = new ScriptedModel(
      [
        ({ messages }) =>
          messages.at(-1)!.getType() === "tool" ? `Answer ${turn}.` : callTool("ls", { path: "/" }),
      ],
      { loop: true },
    );
    const agent = createRunAgent({ settings, model, checkpointer: saver });
    const say = async (): Promise<void> => {
      turn += 1;
      await agent.graph.invoke({ messages: [new HumanMessage(`Turn ${turn}`)] } as never, config);
    };
    let read = 0;
    const list = saver.list.bind(saver);
    vi.spyOn(saver, "list").mockImplementation(async function* (...args) {
      for await (const tuple of list(...args)) {
        read += 1;
        yield tuple;
      }
    });
    const open = async () => {
      read = 0;
      const events = await replay(new Thread(agent, "t"));
      return { events, read };
    };
    /** The same as a process reads it that has not seen the thread before. */
    const openFresh = async () => {
      const other = await place.open();
      const reader = createRunAgent({ settings, checkpointer: other });
      const events = await replay(new Thread(reader, "t"));
      await other.close();
      return events;
    };
    return { agent, say, open, openFresh };
  }

  it("reads each checkpoint once, however often and however long the thread is read", async () => {
    const { say, open, openFresh } = await stage();
    for (let turn = 0; turn < 60; turn += 1) await say();
    const first = await open();
    expect(first.read).toBeGreaterThan(200);
    expect(await open()).toEqual({ events: first.events, read: 0 });
    await say();
    const next = await open();
    expect(next.read).toBeLessThan(20);
    expect(next.events.slice(0, first.events.length - 1)).toEqual(first.events.slice(0, -1));
    expect(next.events).toEqual(await openFresh());
    const answers = next.events.flatMap((event) => (event.type === "model-end" ? [event.text] : []));
    expect(answers.filter((text) => text !== "")).toHaveLength(61);
  });

  it("tells a message once where the list of messages has changed in the middle", async () => {
    const { agent, say, open, openFresh } = await stage();
    await say();
    await say();
    await open();
    const { messages } = (await agent.graph.getState(config)).values as { messages: { id: string }[] };
    await agent.graph.updateState(config, { messages: [new RemoveMessage({ id: messages[1]!.id })] });
    await say();
    const { events } = await open();
    expect(events).toEqual(await openFresh());
    const tasks = events.flatMap((event) => (event.type === "run-start" ? [event.task] : []));
    expect(tasks).toEqual(["Turn 1", "Turn 2", "Turn 3"]);
  });
});
