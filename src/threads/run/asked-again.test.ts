import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Command, interrupt } from "@langchain/langgraph";
import { SCHEDULED } from "@langchain/langgraph-checkpoint";
import { tool } from "langchain";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { isAsking } from "../thread/finished-tasks.ts";
import { Thread } from "../thread/thread.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-asked-again-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

it.each([1, 2])("a stop at record %s never hides a sub-agent's question from the user", async (last) => {
  const model = new ScriptedModel([
    callTool("task", { description: "Write", subagent_type: "general-purpose" }),
    callTool("write_file", { file_path: "/a", content: "a" }),
    "Written.",
    "Done.",
  ]);
  const saver = await sqliteSaver(":memory:");
  const settings = { ...DEFAULT_SETTINGS, model: "scripted", plan: false, dir, ask: ["write_file"] };
  const agent = createRunAgent({ settings, model, checkpointer: saver });
  const stop = new AbortController();
  const run = (input: object | null, signal: AbortSignal, answer: () => void) =>
    runGraph(input, {
      thread: new Thread(agent, "t"),
      model: { model, name: "scripted", source: "option" },
      emit: () => {},
      signal,
      answer: () => {
        answer();
        return Promise.resolve({ type: "approve" });
      },
    });

  let records = 0;
  const putWrites = saver.putWrites.bind(saver);
  saver.putWrites = (config, writes, task) => {
    if (writes[0]?.[0] !== SCHEDULED || ++records !== last) return putWrites(config, writes, task);
    stop.abort();
    return new Promise(() => {});
  };
  expect(await run(taskInput("Go", {}), stop.signal, () => {})).toMatchObject({ outcome: "interrupted" });
  let asked = 0;
  expect(await run(null, new AbortController().signal, () => (asked += 1))).toMatchObject({
    outcome: "done",
    answer: "Done.",
  });
  expect(asked).toBeGreaterThan(0);
  saver.close();
});

it("a stop while a sub-agent's tool asks its own question keeps the question visible", async () => {
  const pay = tool(() => interrupt("How much?"), { name: "pay", description: "pays", schema: z.object({}) });
  const saver = await sqliteSaver(":memory:");
  const agent = createDeepAgent({
    model: new ScriptedModel([
      callTool("task", { description: "Pay", subagent_type: "general-purpose" }),
      callTool("pay", {}),
    ]),
    checkpointer: saver,
    plan: false,
    tools: [pay],
    interruptOn: { pay: true },
  });
  const config = { configurable: { thread_id: "t" }, durability: "sync" as const };
  const { __interrupt__: asked } = await agent.invoke({ messages: "Go" }, config);
  const stop = new AbortController();
  const putWrites = saver.putWrites.bind(saver);
  saver.putWrites = async (place, writes, task) => {
    await putWrites(place, writes, task);
    const { times } = (writes[0]?.[1] ?? { times: 0 }) as { times?: number };
    const isForgotten = writes[0]?.[0] === SCHEDULED && times === 0;
    if (!isForgotten || place.configurable?.["checkpoint_ns"] === "") return;
    stop.abort();
    await new Promise(() => {});
  };
  const approval = new Command({ resume: { [asked?.[0]?.id ?? ""]: { type: "approve" } } });
  await expect(agent.invoke(approval, { ...config, signal: stop.signal })).rejects.toThrow(/abort/i);
  saver.putWrites = putWrites;
  await agent.invoke(null, config);
  expect(await isAsking(saver, "t")).toBe(true);
  saver.close();
});

it("a stopped and then refused command is recorded with its duration and output", async () => {
  const command = "echo half of it; touch started; sleep 60";
  const model = new ScriptedModel([callTool("execute", { command }), "Done."]);
  const saver = await sqliteSaver(":memory:");
  const settings = {
    ...DEFAULT_SETTINGS,
    model: "scripted",
    plan: false,
    dir,
    shell: true,
    ask: ["execute"],
  };
  const agent = createRunAgent({ settings, model, checkpointer: saver });
  const stop = new AbortController();
  const questions: string[] = [];
  const run = (input: object | null, signal: AbortSignal, type: string) =>
    runGraph(input, {
      thread: new Thread(agent, "t"),
      model: { model, name: "scripted", source: "option" },
      emit: () => {},
      signal,
      answer: ({ text }) => {
        questions.push(text);
        return Promise.resolve({ type });
      },
    });
  const first = run(taskInput("Go", {}), stop.signal, "approve");
  await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), { timeout: 120_000 });
  // The line was printed before the file was made: the next look at the pipe reads it.
  await setImmediate();
  await setImmediate();
  stop.abort();
  expect(await first).toMatchObject({ outcome: "interrupted" });
  expect(await run(null, new AbortController().signal, "reject")).toMatchObject({ outcome: "done" });
  const ran = /It had run for \d+ m?s when the run was stopped, and had printed:\nhalf of it/;
  expect(questions[1]).toMatch(ran);
  const result = model.requests[1]!.messages.at(-1)!.text;
  expect(result).toContain("The user does not allow this execute call");
  expect(result).toMatch(ran);
});
