import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { readContext } from "../context-memory/index.ts";
import { writeSummary, type SummaryMaterial } from "./summarizer.ts";

const material: SummaryMaterial = {
  earlier: undefined,
  goes: [new HumanMessage("Count the whales")],
  stays: [],
  words: "",
  plan: "",
};

it("a conversation that the provider rejects in its original form is sent as text", async () => {
  const rejected = Object.assign(new Error("400 tool_calls must be followed by tool messages"), {
    status: 400,
  });
  const shown: string[] = [];
  const text = await writeSummary(material, {
    inConversation: () => Promise.reject(rejected),
    send: async (messages) => {
      shown.push(messages.map((message) => message.text).join("\n"));
      return new AIMessage("Whales are counted.");
    },
    limit: 10_000,
    prompt: undefined,
  });
  expect(text).toBe("Whales are counted.");
  expect(shown.join()).toContain("Count the whales");
});

it.each([
  [
    new AIMessage({
      content: "",
      tool_calls: [{ name: "read_file", args: { file_path: "/a.md" }, id: "c" }],
    }),
    'The last 1 messages, from your call read_file {"file_path":"/a.md"} on, stay as they are.',
  ],
  [new HumanMessage("Go on"), 'The last 1 messages, from "Go on" on, stay as they are.'],
])("the request for a summary names the first message that stays", async (message, words) => {
  const asked: string[] = [];
  const inConversation = async ({ text }: HumanMessage): Promise<AIMessage> => {
    asked.push(text);
    return new AIMessage("Whales are counted.");
  };
  const send = async (): Promise<never> => Promise.reject(new Error("not asked"));
  await writeSummary(
    { ...material, stays: [message] },
    { inConversation, send, limit: 10_000, prompt: undefined },
  );
  expect(asked[0]).toContain(words);
});

it("a provider that cannot be reached is asked once", async () => {
  const offline = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const asked = writeSummary(material, {
    inConversation: () => Promise.reject(offline),
    send: async () => new AIMessage("never"),
    limit: 10_000,
    prompt: undefined,
  });
  await expect(asked).rejects.toBe(offline);
});

it("a fork that leaves out results keeps its caller's summary", () => {
  const summary = { upTo: "m", covers: 3, text: "Before.", count: 3, tokens: 9, at: 1 };
  const cleared = { _context: { cleared: "n" } };
  expect(readContext(cleared, { holdfast_context: { summary } })).toMatchObject({ summary, cleared: "n" });
});

it("a split conversation is cut between messages, with the plan in the last part", async () => {
  const goes = Array.from({ length: 6 }, (_, n) => new HumanMessage(`${n} ${"whale ".repeat(400)}`));
  const shown: string[] = [];
  await writeSummary(
    { ...material, goes, plan: "[>] 1 Count" },
    {
      inConversation: undefined,
      send: async (messages) => {
        shown.push(messages[1]!.text);
        return new AIMessage("Some were counted.");
      },
      limit: 2500,
      prompt: undefined,
    },
  );
  expect(shown.length).toBeGreaterThan(1);
  for (const [at, text] of shown.entries()) {
    const isLast = at === shown.length - 1;
    expect(text.includes("[>] 1 Count")).toBe(isLast);
    expect(text.includes("you will see more")).toBe(!isLast);
    expect(text).toMatch(/to summarize[^\n]*:\n## \d+ user\n/);
  }
});
