import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { actionContract } from "../../../test/contracts/actions.ts";
import { stepOf } from "../../../test/contracts/plan-edits.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunEvent } from "../events/events.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import { earlierMessages, type EarlierMessage } from "../undo/earlier-messages.ts";
import type { Attendance } from "./request/attendance.ts";
import { localHost } from "./threads-graph.ts";

async function stage(steps: Step[], more: Partial<RunSettings> = {}, script: { loop?: boolean } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-host-"));
  const dir = join(folder, "project");
  mkdirSync(dir);
  const saver = await sqliteSaver(join(folder, "threads.db"));
  const settings = { ...DEFAULT_SETTINGS, model: "scripted", plan: false, dir, ...more };
  const model = new ScriptedModel(steps, script);
  const host = localHost({
    saver,
    defaults: settings,
    modelOf: async () => ({ model, name: "scripted", source: "option", isFallback: false }),
    copies: join(folder, "copies"),
  });
  onTestFinished(async () => {
    await host.stop();
    saver.close();
    rmSync(folder, { recursive: true });
  });
  return { host, thread: host.thread("t"), dir, saver, settings, model };
}

describe("a thread of a host", () => {
  actionContract(async (turn) => {
    const { thread, dir } = await stage([stepOf(turn)], { mode: "edits" }, { loop: true });
    let compact = false;
    return {
      dir,
      run: async (task) => {
        await (
          await thread.start(task, { compact })
        ).done;
        compact = false;
        const refusals = (await thread.questions()).map(({ id }) => [id, { type: "reject" }] as const);
        if (refusals.length > 0) await (await thread.answer(Object.fromEntries(refusals))).done;
      },
      say: (words) => thread.say(words),
      stop: () => thread.stop(),
      undo: () => thread.undo(),
      compact: async () => (compact = true),
      askMore: () => thread.changeSettings({ mode: "ask" }),
    };
  });
});

describe("an attended run", () => {
  const attendance = (more: Partial<Attendance> & Pick<Attendance, "settings">): Attendance => ({
    show: () => {},
    answer: async () => undefined,
    ...more,
  });
  const write = callTool("write_file", { file_path: "/a.txt", content: "a" });

  it("waits for the answer, is shown as it comes, and is not in the ledger", async () => {
    const { thread, settings, saver } = await stage([write, "Written."], { mode: "ask" });
    const shown: RunEvent["type"][] = [];
    const run = await thread.start("Write", {
      attendance: attendance({
        settings,
        show: ({ type }) => void shown.push(type),
        answer: async () => ({ type: "approve" }),
      }),
    });
    expect(await run.ended()).toMatchObject({ outcome: "done", answer: "Written." });
    expect(shown).toEqual(expect.arrayContaining(["run-start", "question", "answer", "run-end"]));
    expect(shown.filter((type) => type === "run-end")).toHaveLength(1);
    expect(await saver.ledger.run(run.id)).toBeUndefined();
    const read: string[] = [];
    for await (const { type } of run.events()) read.push(type);
    expect(read).toEqual(shown.filter((type) => type !== "text"));
  });

  it("says what kept it from beginning, and shows nothing", async () => {
    const { thread, settings, saver } = await stage(["One."]);
    const release = await saver.acquireThread("t");
    const shown: RunEvent[] = [];
    const run = await thread.start("Go", {
      attendance: attendance({ settings, show: (event) => void shown.push(event) }),
    });
    await expect(run.ended()).rejects.toMatchObject({ code: "thread-busy" });
    await release();
    const off = await thread.start("Go", {
      attendance: attendance({
        settings,
        show: (event) => void shown.push(event),
        onBegin: () => Promise.reject(new Error("Not now.")),
      }),
    });
    await expect(off.ended()).rejects.toThrow("Not now.");
    expect(shown).toEqual([]);
  });

  it("keeps its settings in the thread with a message, whole", async () => {
    const { thread, settings } = await stage(["One.", "Two."], { maxTurns: 5 });
    const { maxTurns: _, ...without } = settings;
    await (await thread.start("Go", { attendance: attendance({ settings }) })).ended();
    await (await thread.start("On", { attendance: attendance({ settings: without }) })).ended();
    const { run } = (await (await thread.read()).state()).values as { run: RunSettings };
    expect(run).toEqual(without);
  });

  it("calls no model when the user stops the run before it starts", async () => {
    const { thread, settings, model } = await stage(["One."]);
    const run = await thread.start("Go", { attendance: attendance({ settings }) });
    await run.stop();
    expect(await run.ended()).toBeUndefined();
    expect(model.requests).toHaveLength(0);
  });
});

describe("the note about the fork in a forked thread", () => {
  const texts = ({ requests }: ScriptedModel): string[][] =>
    requests.map(({ messages }) => messages.map(({ type, text }) => `${type}: ${text}`));
  const notesIn = (request: readonly string[]): string[] => request.filter((text) => text.includes("forked"));
  const write = callTool("write_file", { file_path: "/a.txt", content: "a" });

  it("reaches the model once, in a fixed place, and says that files stay as they are", async () => {
    const { host, thread, model } = await stage(["One.", write, "Two.", write, "Other.", "More."]);
    await (
      await thread.start("First")
    ).done;
    await (
      await thread.start("Second")
    ).done;
    const { value: second } = await earlierMessages(await thread.read()).next();
    await thread.fork("fork", { checkpoint: (second as EarlierMessage).before });
    const fork = host.thread("fork");
    for (const task of ["Another", "And then"]) await (await fork.start(task)).done;
    const [first = [], next = [], last = []] = texts(model).slice(3);
    expect(first.slice(1)).toEqual([
      "human: First",
      "ai: One.",
      expect.stringContaining("files are as they are now"),
      "human: Another",
    ]);
    expect([next.slice(0, first.length), last.slice(0, next.length)]).toEqual([first, next]);
    expect(notesIn(last)).toHaveLength(1);
    expect(texts(model).slice(0, 3).flatMap(notesIn)).toEqual([]);
  });

  it("comes after the results of due calls, and says that the thread's files went back", async () => {
    const { host, thread, model } = await stage([[write, write], "Written."], {
      dir: undefined,
      ask: ["write_file"],
    });
    await (
      await thread.start("Write")
    ).done;
    await thread.fork("fork");
    const fork = host.thread("fork");
    const yes = (await fork.questions()).map(({ id }) => [id, { type: "approve" }] as const);
    await (
      await fork.answer(Object.fromEntries(yes))
    ).done;
    const request = model.requests[1]!.messages;
    expect(request.map(({ type }) => type)).toEqual(["system", "human", "ai", "tool", "tool", "human"]);
    expect(request.at(-1)!.text).toContain("files are as they were here");
  });
});
