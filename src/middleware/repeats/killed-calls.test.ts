import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { INTERRUPT } from "@langchain/langgraph-checkpoint";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isOvertaken } from "../../langgraph/call-journal.ts";
import { checkStore } from "../../storage/care/check.ts";
import { sqliteSaver } from "../../storage/sqlite.ts";
import type { ConsentRequest } from "../consent/index.ts";

interface Job {
  thread: string;
  input?: string;
  resume?: unknown;
}

interface Result {
  thread: string;
  open: { id: string; value: ConsentRequest }[];
  results: string[];
  heard: string[];
}

const BESIDE = ["unknown", "repeat", "ask", "refuse", "consent", "consent-without-id", "ended", "off"];
const ASKING = ["consent", "consent-without-id", "consent-of-sub-agent"];
const SUB_AGENTS = ["sub-agent", "consent-of-sub-agent"];
const THREADS = [...BESIDE, ...SUB_AGENTS, "harmless", "in-order"];
const UNKNOWN = /^send: This send call was interrupted: it may or may not/;

let folder: string;
let child: ChildProcess | undefined;
/** What came of each thread in the process after the one that was killed. */
let resumed: Record<string, Result>;
/** Of a thread that was killed in the same call once more. */
let twice: Result;
/** Where questions had been answered after that. */
let answered: Record<string, Result>;
/** Whether the main graph's question was overtaken by what became of the call. */
let questionsAfterKill: boolean[];
/** What the calls of a thread that keeps their order had done when it was killed. */
let inOrder: string[];
let problems: unknown[];
let questionsAsked: boolean[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-killed-calls-"));
  const asked = await finish(ASKING.map((thread): Job => ({ thread, input: "go" })));
  const approve = { type: "approve" };
  const approved = (thread: string, { open }: Result = asked[thread]!): Job => ({
    thread,
    resume: { [open[0]!.id]: approve },
  });
  await kill(
    [
      ...THREADS.filter((thread) => !ASKING.includes(thread)).map((thread) => ({ thread, input: "go" })),
      approved("consent"),
      approved("consent-of-sub-agent"),
      { thread: "consent-without-id", resume: approve },
    ],
    async () => THREADS.every((thread) => effectsOf(thread).length === 1) && (await areNotesSaved()),
  );
  inOrder = linesOf("in-order");
  problems = await checkStore(join(folder, "threads.db"));
  questionsAfterKill = await questionsOf(["consent", "consent-of-sub-agent"]);
  resumed = await finish(THREADS.map((thread) => ({ thread })));
  questionsAsked = await questionsOf(["consent", "consent-of-sub-agent"]);
  await kill([approved("consent", resumed["consent"])], async () => effectsOf("consent").length === 2);
  twice = (await finish([{ thread: "consent" }]))["consent"]!;
  const answer = (thread: string, decision: object): Job => ({
    thread,
    resume: { [resumed[thread]!.open[0]!.id]: decision },
  });
  answered = await finish([
    answer("ask", approve),
    answer("refuse", { type: "reject", message: "once is enough" }),
    approved("consent", twice),
    approved("consent-of-sub-agent", resumed["consent-of-sub-agent"]),
    { thread: "consent-without-id", resume: approve },
  ]);
});

afterAll(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

describe("a call that was running when its process was killed", () => {
  it("is not run again by default, and the model reads that its outcome is unknown", () => {
    expect(effectsOf("unknown")).toEqual(["s false"]);
    expect(resumed["unknown"]!.results).toEqual([expect.stringMatching(UNKNOWN), "note: noted"]);
    expect(resumed["unknown"]!.heard).toContainEqual(
      expect.stringContaining("Find out what it has done before you make it again."),
    );
  });

  it("is run again when its tool allows it, with the call's id and a repetition flag", () => {
    expect(effectsOf("repeat")).toEqual(["s false", "s true"]);
    expect(resumed["repeat"]!.results).toEqual(["send: sent", "note: noted"]);
  });

  it("leads to a question when its tool says so, and runs again if the user allows it", () => {
    const [{ value }] = resumed["ask"]!.open as [Result["open"][0]];
    expect(value).toMatchObject({ type: "consent", call: "s", name: "send", repeated: 1 });
    expect(value.actionRequests[0]!.description).toContain("It may have had its effect already");
    expect(answered["ask"]!.results).toEqual(["send: sent", "note: noted"]);
    expect(effectsOf("ask")).toEqual(["s false", "s true"]);
  });

  it("is not run again when the user refuses", () => {
    expect(answered["refuse"]!.results[0]).toContain("once is enough");
    expect(effectsOf("refuse")).toEqual(["s false"]);
  });

  it.each(["consent", "consent-without-id"])(
    "needs consent again after an earlier approval, and says so: %s",
    (thread) => {
      expect(resumed[thread]!.open).toHaveLength(1);
      expect(resumed[thread]!.open[0]!.value).toMatchObject({ call: "s", repeated: 1 });
    },
  );

  it("runs again once after a new approval by the question's id", () => {
    expect(twice.open[0]!.value).toMatchObject({ call: "s", repeated: 2 });
    expect(answered["consent"]!.results).toEqual(["send: sent", "note: noted"]);
    expect(effectsOf("consent")).toEqual(["s false", "s true", "s true"]);
  });

  it("needs consent again after an approval for a sub-agent", () => {
    const { open } = resumed["consent-of-sub-agent"]!;
    expect(open[0]!.value).toMatchObject({ call: "s", repeated: 1 });
    expect(answered["consent-of-sub-agent"]!.results).toEqual(["task: done"]);
    expect(effectsOf("consent-of-sub-agent")).toEqual(["s false", "s true"]);
  });

  it("makes the question from before the kill obsolete, and no new question", () => {
    expect(questionsAfterKill).toEqual([true, true]);
    expect(questionsAsked).toEqual([false, false]);
  });

  it("does not run again on an answer without an id that may be for the old question", () => {
    const [{ value }] = answered["consent-without-id"]!.open as [Result["open"][0]];
    expect(value.error).toContain("Answer this question by its interrupt's id.");
    expect(effectsOf("consent-without-id")).toEqual(["s false"]);
  });

  it("counts as killed when it had ended but its result was not saved", () => {
    expect(effectsOf("ended")).toEqual(["s false"]);
    expect(resumed["ended"]!.results[0]).toMatch(UNKNOWN);
  });

  it("is not run again in a sub-agent either, and the sub-agent continues", () => {
    expect(effectsOf("sub-agent")).toEqual(["s false"]);
    expect(resumed["sub-agent"]!.results).toEqual(["task: done"]);
    expect(resumed["sub-agent"]!.heard).toContainEqual(
      expect.stringMatching(/^This send call was interrupted/),
    );
  });

  it("is simply run again when its tool is read-only", () => {
    expect(linesOf("harmless")).toEqual(["looked", "looked"]);
    expect(resumed["harmless"]!.results).toEqual(["look: seen"]);
  });

  it("is simply run again when the option is switched off", () => {
    expect(effectsOf("off")).toEqual(["s false", "s false"]);
  });

  it("does not repeat the finished calls next to it", () => {
    for (const thread of [...BESIDE, ...SUB_AGENTS]) {
      expect(linesOf(thread).filter((line) => line === "note")).toHaveLength(1);
    }
  });

  it("lets the later calls run for the first time, in order", () => {
    expect(inOrder).toEqual(["s false"]);
    expect(linesOf("in-order")).toEqual(["s false", "note"]);
    expect(resumed["in-order"]!.results).toEqual([expect.stringMatching(UNKNOWN), "note: noted"]);
  });

  it("leaves an intact store", async () => {
    expect(problems).toEqual([]);
    expect(await checkStore(join(folder, "threads.db"))).toEqual([]);
  });

  it("leaves no record after its step is over", () => {
    const database = new Database(join(folder, "threads.db"));
    const rows = database
      .prepare(
        "SELECT t.id FROM writes w JOIN threads t ON t.key = w.thread WHERE w.channel = '__scheduled__'",
      )
      .all() as { id: string }[];
    database.close();
    // Only the one thread still waits for an answer.
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(["consent-without-id"]));
  });
});

/** Runs threads until their calls are under way, and kills the process. */
async function kill(jobs: Job[], isUnderWay: () => Promise<boolean>): Promise<void> {
  child = start(jobs, "hang");
  const failure = text(child.stderr!);
  while (!(await isUnderWay())) {
    expect(child.exitCode, child.exitCode === null ? "" : await failure).toBeNull();
    await sleep(50);
  }
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function withSaver<T>(
  look: (saver: Awaited<ReturnType<typeof sqliteSaver>>) => Promise<T>,
): Promise<T> {
  const saver = await sqliteSaver(join(folder, "threads.db"));
  try {
    return await look(saver);
  } finally {
    saver.close();
  }
}

async function areNotesSaved(): Promise<boolean> {
  return withSaver(async (saver) => {
    const places = BESIDE.map((thread) => ({ thread_id: thread, checkpoint_ns: "" }));
    for (const thread of SUB_AGENTS) {
      for await (const { config } of saver.list({ configurable: { thread_id: thread } })) {
        const { checkpoint_ns: ns } = config.configurable as { checkpoint_ns: string };
        if (ns !== "") places.push({ thread_id: thread, checkpoint_ns: ns });
      }
    }
    const saved = await Promise.all(places.map((configurable) => saver.getTuple({ configurable })));
    return saved.every((tuple) => tuple?.pendingWrites?.some(([, channel]) => channel === "messages"));
  });
}

async function questionsOf(threads: string[]): Promise<boolean[]> {
  return withSaver(async (saver) => {
    const saved = await Promise.all(
      threads.map((thread) => saver.getTuple({ configurable: { thread_id: thread } })),
    );
    return saved.flatMap((tuple) => {
      const writes = tuple!.pendingWrites!;
      return writes.flatMap(([id, channel, value]) =>
        channel === INTERRUPT
          ? [isOvertaken({ id, value: (value as { value: unknown }).value }, writes)]
          : [],
      );
    });
  });
}

async function finish(jobs: Job[]): Promise<Record<string, Result>> {
  child = start(jobs, "finish");
  const [output, failure] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  expect(output, failure).not.toBe("");
  const results = JSON.parse(output) as Result[];
  return Object.fromEntries(results.map((result) => [result.thread, result]));
}

function start(jobs: Job[], mode: "hang" | "finish"): ChildProcess {
  const program = join(import.meta.dirname, "killed-calls.mjs");
  const args = [program, join(folder, "threads.db"), join(folder, "effects.txt"), mode];
  const started = spawn(process.execPath, args, { stdio: "pipe" });
  started.stdin.end(JSON.stringify(jobs));
  return started;
}

function linesOf(thread: string): string[] {
  const file = join(folder, "effects.txt");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.filter((line) => line.startsWith(`${thread} `)).map((line) => line.slice(thread.length + 1));
}

function effectsOf(thread: string): string[] {
  return linesOf(thread).filter((line) => line !== "note");
}
