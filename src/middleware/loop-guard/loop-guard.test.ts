import { HumanMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { metadataOf } from "../../marks.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { LOOP_FINISH_REASON, loopGuardMiddleware, type LoopGuardOptions } from "./index.ts";

const look = tool(({ at }) => `nothing at ${at}`, {
  name: "look",
  description: "Look.",
  schema: z.object({ at: z.string() }),
});

/** How many turns a model gets that looks at these places in turn, and in which it was first warned. */
async function turnsOf(places: readonly string[], options: LoopGuardOptions = {}, tools = [look]) {
  const steps = Array.from({ length: 40 }, (_, n): Step =>
    callTool("look", { at: places[n % places.length]! }),
  );
  const model = new ScriptedModel([...steps, "Done."]);
  const agent = createAgent({ model, tools, middleware: [loopGuardMiddleware({ waitMs: 0, ...options })] });
  const input = { messages: [new HumanMessage("go")] };
  const { messages } = await agent.invoke(input, { recursionLimit: 1000 });
  const isStopped = metadataOf(messages.at(-1))["finish_reason"] === LOOP_FINISH_REASON;
  const isWarned = model.requests.map((request) => request.messages.at(-1)!.name === "loop_warning");
  return { isStopped, turns: model.requests.length, warnedAfter: isWarned.indexOf(true) };
}

describe("the loop guard", () => {
  it("stops a model that makes one call over and over", async () => {
    expect(await turnsOf(["a"])).toEqual({ isStopped: true, turns: 5, warnedAfter: 3 });
    expect(await turnsOf(["a"], { warnAfter: 2, stopAfter: 3 })).toMatchObject({ turns: 3, warnedAfter: 2 });
  });

  it("stops a model that cycles through two or three turns, with twice the patience", async () => {
    expect(await turnsOf(["a", "b"])).toEqual({ isStopped: true, turns: 19, warnedAfter: 12 });
    expect(await turnsOf(["a", "b", "c"])).toEqual({ isStopped: true, turns: 28, warnedAfter: 18 });
  });

  it("allows a repeated call whose results differ, such as polling a job", async () => {
    let seen = 0;
    const other = tool(() => `page ${(seen += 1)}`, { name: "look", description: "l", schema: look.schema });
    expect(await turnsOf(["a"], {}, [other])).toEqual({ isStopped: false, turns: 41, warnedAfter: -1 });
  });

  it("allows identical calls to tools that the options exclude", async () => {
    const options: LoopGuardOptions = { tools: { look: false } };
    expect(await turnsOf(["a"], options)).toEqual({ isStopped: false, turns: 41, warnedAfter: -1 });
  });

  it("waits before the call that it warns, and no longer than the run", async () => {
    const model = new ScriptedModel(Array.from({ length: 4 }, () => callTool("look", { at: "a" })));
    const agent = createAgent({ model, tools: [look], middleware: [loopGuardMiddleware({ waitMs: 1e8 })] });
    const stop = new AbortController();
    const run = agent.invoke({ messages: [new HumanMessage("go")] }, { signal: stop.signal });
    await vi.waitUntil(() => model.requests.length === 3, 120_000);
    stop.abort();
    await expect(run).rejects.toThrow(/abort/i);
    expect(model.requests).toHaveLength(3);
  });

  it("allows a model that makes progress", async () => {
    const places = Array.from({ length: 40 }, (_, n) => String(n));
    expect(await turnsOf(places)).toEqual({ isStopped: false, turns: 41, warnedAfter: -1 });
  });
});
