import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ConsentRequest } from "../middleware/consent/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { makeLeadAgent } from "./index.ts";

const baseDir = mkdtempSync(join(tmpdir(), "holdfast-consent-"));
afterAll(() => rmSync(baseDir, { recursive: true }));

const go = { messages: [new HumanMessage("go")] };
const send = (id: string) => callTool("send", { to: id }, id);

interface Open {
  id: string;
  value: ConsentRequest;
}

function lead(thread: string, steps: Step[]) {
  const config = { configurable: { thread_id: thread, subagent_enabled: true } };
  const model = new ScriptedModel(steps);
  const sent: string[] = [];
  const note = ({ to }: { to: string }): string => `sent ${sent.push(to)}`;
  const agent = makeLeadAgent(config, {
    model,
    baseDir,
    tools: [tool(note, { name: "send", description: "s", schema: z.object({ to: z.string() }) })],
    interruptOn: { send: true },
    checkpointer: new MemorySaver(),
  });
  const run = async (input: typeof go | Command): Promise<Open[]> => {
    const result = (await agent.invoke(input, config)) as { __interrupt__?: Open[] };
    return result.__interrupt__ ?? [];
  };
  return { run, sent };
}

describe("a lead agent", () => {
  it("asks before tools that need consent, and so do its sub-agents", async () => {
    const { run, sent } = lead("main", [
      send("own"),
      callTool("task", { description: "go", subagent_type: "general-purpose" }, "t1"),
      send("helped"),
      "Done.",
      "Done.",
    ]);
    const approve = new Command({ resume: { decisions: [{ type: "approve" }] } });
    expect((await run(go)).map(({ value }) => [value.owner, value.call])).toEqual([["main", "own"]]);
    expect(sent).toEqual([]);
    const [next] = await run(approve);
    expect(sent).toEqual(["own"]);
    expect(next!.value).toMatchObject({ owner: "main/go:t1", call: "helped" });
    expect(await run(approve)).toEqual([]);
    expect(sent).toEqual(["own", "helped"]);
  });

  it("does not ask for consent to a call that a question to the user holds back", async () => {
    const { run, sent } = lead("held", [
      [send("held"), callTool("ask_clarification", { question: "Which?" })],
      "ok",
    ]);
    expect((await run(go)).map(({ value }) => value.type)).toEqual(["clarification"]);
    expect(await run(new Command({ resume: "left" }))).toEqual([]);
    expect(sent).toEqual([]);
  });
});
