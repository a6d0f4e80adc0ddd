import { HumanMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../deep/index.ts";
import { isSummaryEvent } from "../middleware/summarization/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";

const note = tool(() => "noted", { name: "note", description: "notes", schema: z.object({ n: z.number() }) });

it.each([true, false])(
  "a sub-agent's long conversation is summarized and keeps its task: background %s",
  async (isInBackground) => {
    const TASK = "Look into every log. Never touch date.js.";
    const scout = new ScriptedModel([
      ...Array.from({ length: 20 }, (_, n): Step => callTool("note", { n })),
      "Found 3 leaks.",
    ]);
    let written = 0;
    const shown: boolean[] = [];
    const writer = new ScriptedModel(
      [
        ({ messages }) => {
          shown.push(written === 0 || messages.some(({ text }) => text.includes(`SUMMARY-${written}.`)));
          return `SUMMARY-${++written}.`;
        },
      ],
      { loop: true },
    );
    const model = new ScriptedModel([
      callTool("task", { description: TASK, subagent_type: "scout", background: isInBackground }),
      ...(isInBackground ? ["Waiting."] : []),
      "There are 3 leaks.",
    ]);
    const agent = createDeepAgent({
      model,
      tools: [note],
      background: true,
      subagents: [{ name: "scout", description: "looks", model: scout }],
      summarization: { model: writer, trigger: { messages: 8 }, keep: { messages: 2 } },
    });
    const owners: string[] = [];
    const stream = await agent.stream(
      { messages: [new HumanMessage("go")] },
      { streamMode: "custom", recursionLimit: 200 },
    );
    for await (const chunk of stream as AsyncIterable<unknown>) {
      if (isSummaryEvent(chunk)) owners.push(`${chunk.type} ${chunk.owner.split(":")[0]}`);
    }
    expect(scout.requests).toHaveLength(21);
    const lost = scout.requests.filter(({ messages }) => !messages.some(({ text }) => text.includes(TASK)));
    expect(lost).toEqual([]);
    expect(written).toBeGreaterThan(3);
    expect(shown).not.toContain(false);
    expect(owners).toEqual(Array.from({ length: written }, () => "summary main/scout"));
    expect(
      model.requests
        .at(-1)!
        .messages.map(({ text }) => text)
        .join("\n"),
    ).toContain("Found 3 leaks.");
  },
);
