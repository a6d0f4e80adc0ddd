import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { STORES } from "../../../test/helpers/postgres/stores.ts";
import { isRelease } from "../../../test/helpers/runner/rounds.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver, type ThreadStore } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { summarizationMiddleware } from "./index.ts";

const REQUEST =
  "Work through the tickets. T03 only after T08. Change nothing in tickets/. Log a checkpoint at every third. T06 is withdrawn by finance.";
const config = { configurable: { thread_id: "t" }, recursionLimit: 1000 };
const read = tool(({ n }) => `ticket ${n} `.repeat(60), {
  name: "read",
  description: "reads a ticket",
  schema: z.object({ n: z.number() }),
});

/** Answers with its number and whether it was shown the summary before. */
function summarizer(): { model: ScriptedModel; chain: () => boolean[] } {
  let written = 0;
  const seen: boolean[] = [];
  const step: Step = ({ messages }) => {
    const all = messages.map(({ text }) => text).join("\n");
    seen.push(written === 0 || all.includes(`SUMMARY-${written}.`));
    written += 1;
    return `SUMMARY-${written}.`;
  };
  return { model: new ScriptedModel([step], { loop: true }), chain: () => seen };
}

/** In 4 of 10 turns the plan is worked on where there is one. */
function script(turns: number, isPlanned: boolean): Step[] {
  const work: Step[] = Array.from({ length: turns }, (_, n) => callTool("read", { n }));
  const plan: Step[] = isPlanned ? [callTool("write_todos", { todos: ["tickets", "report"] })] : [];
  return [...plan, ...work, ...(isPlanned ? [callTool("update_todos", { done: "1,2" })] : []), "done"];
}

async function openPostgres(): Promise<ThreadStore> {
  const place = await STORES.find(({ name }) => name === "Postgres")!.create();
  const saver = await place.open();
  onTestFinished(() => saver.close());
  return saver;
}

const isIn = (messages: readonly BaseMessage[], words: string): boolean =>
  messages.some(({ text }) => text.includes(words));

describe("the request stands word for word in every model call", () => {
  const stores: [string, () => BaseCheckpointSaver | Promise<BaseCheckpointSaver>][] = [
    ["memory", () => new MemorySaver()],
    ["SQLite", () => sqliteSaver(":memory:")],
    ...(isRelease ? [["Postgres", openPostgres] as [string, typeof openPostgres]] : []),
  ];
  const cases = (isRelease ? [1, 5, 20] : [5]).flatMap((summaries) =>
    [true, false].flatMap((isPlanned) =>
      stores.flatMap(([store, create]) =>
        [false, true].map((isResumed) => ({ summaries, isPlanned, store, create, isResumed })),
      ),
    ),
  );

  it.each(cases)(
    "over $summaries summaries, plan: $isPlanned, in $store, resumed: $isResumed",
    async ({ summaries, isPlanned, create, isResumed }) => {
      // Each summary takes some 4 turns away.
      const steps = script(4 * summaries + 8, isPlanned);
      const model = new ScriptedModel(steps);
      const { model: writer, chain } = summarizer();
      const checkpointer = await create();
      const build = () =>
        createDeepAgent({
          model,
          tools: [read],
          plan: isPlanned ? {} : false,
          checkpointer,
          summarization: { model: writer, trigger: { messages: 12 }, keep: { messages: 4 } },
        });
      const go = { messages: [new HumanMessage(REQUEST)] };
      if (isResumed) {
        const paused: object = { ...config, interruptBefore: ["tools"] };
        await build().invoke(go, paused);
        while (model.requests.length < steps.length) await build().invoke(null as never, paused);
      } else {
        await build().invoke(go, config);
      }
      expect(model.requests).toHaveLength(steps.length);
      expect(model.requests.filter(({ messages }) => !isIn(messages, REQUEST))).toEqual([]);
      expect(chain().length).toBeGreaterThanOrEqual(summaries);
      expect(chain()).not.toContain(false);
      const { values } = await build().graph.getState(config);
      const { messages } = values as { messages: BaseMessage[] };
      expect(messages[0]!.text).toBe(REQUEST);
      expect(messages.filter(({ type }) => type === "ai")).toHaveLength(steps.length);
    },
  );
});

it("the request survives a process that ended before it saved its summary", async () => {
  class Full extends MemorySaver {
    isFull = true;
    override putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
      const isSummary = JSON.stringify(args[1]).includes("SUMMARY-");
      return this.isFull && isSummary ? Promise.reject(new Error("disk full")) : super.putWrites(...args);
    }
    override put(...args: Parameters<MemorySaver["put"]>): ReturnType<MemorySaver["put"]> {
      const isSummary = JSON.stringify(args[1].channel_values).includes("SUMMARY-");
      return this.isFull && isSummary ? Promise.reject(new Error("disk full")) : super.put(...args);
    }
  }
  const checkpointer = new Full();
  const model = new ScriptedModel(script(8, false));
  const { model: writer } = summarizer();
  const summarization = { model: writer, trigger: { messages: 12 }, keep: { messages: 4 } };
  const agent = createDeepAgent({ model, tools: [read], plan: false, checkpointer, summarization });
  const saved = { ...config, durability: "sync" as const };
  await expect(agent.invoke({ messages: [new HumanMessage(REQUEST)] }, saved)).rejects.toThrow("disk full");
  checkpointer.isFull = false;
  await agent.invoke(null, saved);
  expect(model.requests.some(({ messages }) => isIn(messages, "SUMMARY-1."))).toBe(true);
  expect(model.requests.filter(({ messages }) => !isIn(messages, REQUEST))).toEqual([]);
});

describe("the middleware alone", () => {
  it("asks the agent's own model as the next turn of the same conversation", async () => {
    const requests: { messages: BaseMessage[]; tools: unknown[] }[] = [];
    const steps: Step[] = [
      (request) => {
        requests.push(request);
        const isAsked = request.messages.at(-1)!.text.includes("Write the summary under these headings");
        if (isAsked) return "SUMMARY.";
        return requests.length < 12 ? callTool("read", { n: requests.length }) : "done";
      },
    ];
    const model = new ScriptedModel(steps, { loop: true });
    const agent = createAgent({
      model,
      tools: [read],
      systemPrompt: "Be exact.",
      middleware: [summarizationMiddleware({ trigger: { messages: 8 }, keep: { messages: 2 } })],
    });
    await agent.invoke({ messages: [new HumanMessage(REQUEST)] }, { recursionLimit: 100 });
    const at = requests.findIndex(({ messages }) => isIn(messages, "Write the summary under these headings"));
    const [before, asked, after] = requests.slice(at - 1, at + 2);
    // The provider's cache has all of the request before.
    const wire = ({ messages }: { messages: BaseMessage[] }) =>
      messages.map((one) => [one.type, one.content]);
    expect(wire(asked!).slice(0, before!.messages.length)).toEqual(wire(before!));
    expect(asked!.tools).toEqual(before!.tools);
    expect(isIn(after!.messages, "SUMMARY.")).toBe(true);
    expect(isIn(after!.messages, REQUEST)).toBe(true);
    // Between two summaries each request begins with the one before it.
    const next = requests[at + 2]!;
    expect(wire(next).slice(0, after!.messages.length)).toEqual(wire(after!));
    expect(requests.every(({ messages }) => isIn(messages, REQUEST))).toBe(true);
  });

  it("asks as a rebuilt agent, but not as an agent elsewhere with the same thread id", async () => {
    const answer: Step = ({ messages }) =>
      isIn(messages.slice(-1), "Write the summary under these headings") ? "SUMMARY." : "Yes.";
    const model = new ScriptedModel([answer], { loop: true });
    const agentOf = (systemPrompt: string, checkpointer: MemorySaver) => (text: string) =>
      createAgent({
        model,
        tools: [read],
        systemPrompt,
        checkpointer,
        middleware: [summarizationMiddleware({ trigger: { messages: 5 }, keep: { messages: 1 } })],
      }).invoke({ messages: [new HumanMessage(text)] }, config);
    const say = agentOf("Be exact.", new MemorySaver());
    const sayElsewhere = agentOf("Be brief.", new MemorySaver());
    for (const text of ["One", "Two"]) await say(text);
    await sayElsewhere("Hello");
    await say("Three");
    const asked = model.requests.filter(({ messages }) => isIn(messages.slice(-1), "Write the summary"));
    expect(asked.map(({ messages }) => messages[0]!.text)).toEqual(["Be exact."]);
  });

  it("summarizes in parts that fit, each with the summary so far and the kept messages", async () => {
    class SmallModel extends ScriptedModel {
      override get profile() {
        return { maxInputTokens: 2000 };
      }
    }
    const shown: string[] = [];
    const writer = new SmallModel(
      [
        ({ messages }) => {
          shown.push(messages.at(-1)!.text);
          return `PART-${shown.length}`;
        },
      ],
      { loop: true },
    );
    const model = new ScriptedModel([
      ...Array.from({ length: 12 }, (_, n) => callTool("read", { n })),
      "done",
    ]);
    const middleware = [
      summarizationMiddleware({ model: writer, trigger: { messages: 24 }, keep: { messages: 2 } }),
    ];
    const agent = createAgent({ model, tools: [read], middleware });
    await agent.invoke({ messages: [new HumanMessage(REQUEST)] }, { recursionLimit: 100 });
    expect(shown.length).toBeGreaterThan(1);
    expect(shown[0]).toContain(REQUEST);
    for (const text of shown) expect(text.length / 4).toBeLessThan(1500);
    for (const [at, text] of shown.slice(1).entries()) expect(text).toContain(`PART-${at + 1}`);
    for (let n = 0; n < 11; n += 1) expect(shown.join("")).toContain(`ticket ${n} `.repeat(60).trimEnd());
    expect(shown.at(-1)).toContain("For sight only");
    expect(isIn(model.requests.at(-1)!.messages, `PART-${shown.length}`)).toBe(true);
  });

  it("continues a thread that has one of LangChain's summaries in its messages", async () => {
    const { model: writer } = summarizer();
    const model = new ScriptedModel([callTool("read", { n: 1 }), callTool("read", { n: 2 }), "done"]);
    const middleware = [
      summarizationMiddleware({ model: writer, trigger: { messages: 6 }, keep: { messages: 2 } }),
    ];
    const old = new HumanMessage({
      content: "Here is a summary of the conversation to date:\n\nOLD-SUMMARY",
      additional_kwargs: { lc_source: "summarization" },
    });
    const messages = [old, new HumanMessage(REQUEST)];
    await createAgent({ model, tools: [read], middleware }).invoke({ messages });
    expect(isIn(model.requests[0]!.messages, "OLD-SUMMARY")).toBe(true);
    const asked = writer.requests[0]!.messages.at(-1)!.text;
    expect(asked).toContain("OLD-SUMMARY");
    const last = model.requests.at(-1)!.messages;
    expect(isIn(last, "SUMMARY-1.")).toBe(true);
    expect(isIn(last, REQUEST)).toBe(true);
    expect(isIn(last, "OLD-SUMMARY")).toBe(false);
  });
});
