import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { unsaidTokens, usedTokens } from "../../prices/index.ts";

const cut = (content: AIMessage["content"]): AIMessage =>
  new AIMessage({ content, response_metadata: { finish_reason: "length" } });

async function run(steps: Step[], plan?: false) {
  const model = new ScriptedModel(steps);
  const agent = createDeepAgent({ model, ...(plan === false ? { plan } : {}) });
  const { messages } = (await agent.invoke({ messages: [new HumanMessage("go")] })) as {
    messages: AIMessage[];
  };
  return { model, messages };
}

it.each([undefined, false] as const)(
  "Holdfast joins a cut-off answer and its continuation into one (plan: %s)",
  async (plan) => {
    const { model, messages } = await run(
      [cut("The README has three parts: the fir"), cut("st, the se"), "cond."],
      plan,
    );
    expect(messages.map(({ text }) => text)).toEqual([
      "go",
      "The README has three parts: the first, the second.",
    ]);
    const last = model.requests[2]!.messages;
    expect(last.slice(-3).map(({ type, text }) => `${type}: ${text}`)).toEqual([
      "human: go",
      "ai: The README has three parts: the first, the se",
      "human: <system_reminder>Your answer was cut off at the output limit. Continue exactly where it ends, and repeat nothing.</system_reminder>",
    ]);
  },
);

it("keeps the words before calls that follow in a continued answer", async () => {
  const { messages } = await run([
    cut("I will lo"),
    new AIMessage({ content: "ok.", tool_calls: [{ id: "1", name: "ls", args: {} }] }),
    "Done.",
  ]);
  expect(messages.map(({ text }) => text)).toEqual(["go", "I will look.", expect.anything(), "Done."]);
});

it("continues an answer with blocks after its thoughts", async () => {
  const thought = { type: "thinking", thinking: "hm", signature: "s" };
  const { messages } = await run([
    cut([thought, { type: "text", text: "One, " }]),
    new AIMessage({ content: [thought, { type: "text", text: "two." }] }),
  ]);
  expect(messages.at(-1)!.content).toEqual([thought, { type: "text", text: "One, two." }]);
});

it("ends when the model adds nothing, or after eight more parts", async () => {
  const silent = await run([cut("half"), cut("")]);
  expect(silent.messages.at(-1)!.text).toBe("half");
  const endless = await run(Array.from({ length: 9 }, () => cut("a")));
  expect(endless.messages.at(-1)!.text).toBe("aaaaaaaaa");
});

it("an agent does not run a call that was cut off after half an answer", async () => {
  const broken = new AIMessage({
    content: "So",
    invalid_tool_calls: [{ type: "invalid_tool_call", id: "1", name: "ls", args: '{"pa', error: "" }],
    response_metadata: { finish_reason: "length" },
  });
  const { messages } = await run([broken, callTool("ls"), "Done."]);
  expect(messages.at(-1)!.text).toBe("Done.");
});

it.each([undefined, false] as const)(
  "discarded answers charge their tokens to their replacement (plan: %s)",
  async (plan) => {
    const used = (message: AIMessage): AIMessage => {
      const usage_metadata = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
      return Object.assign(message, { usage_metadata });
    };
    const malformed = () =>
      new AIMessage({
        content: "",
        invalid_tool_calls: [{ type: "invalid_tool_call", id: "1", name: "ls", args: '{"pa', error: "" }],
      });
    const { messages } = await run(
      [used(malformed()), used(new AIMessage("")), used(cut("Half of ")), used(new AIMessage("it."))],
      plan,
    );
    const answer = messages.find((message) => AIMessage.isInstance(message));
    expect(answer!.text).toBe("Half of it.");
    expect(usedTokens(answer!)).toMatchObject({ inputTokens: 100, outputTokens: 10 });
    expect(unsaidTokens(answer!)).toMatchObject({ inputTokens: 300, outputTokens: 30 });
  },
);
