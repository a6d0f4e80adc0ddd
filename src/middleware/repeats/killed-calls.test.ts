import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
const THREADS = [...BESIDE, "sub-agent", "harmless"];
const UNKNOWN = /^send: It is not known whether this send call was carried out/;

let folder: string;
let child: ChildProcess | undefined;
/** What came of each thread in the process after the one that was killed. */
let resumed: Record<string, Result>;
/** Where questions had been answered after that. */
let answered: Record<string, Result>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-killed-calls-"));
  const asked = await finish(
    ["consent", "consent-without-id"].map((thread): Job => ({ thread, input: "go" })),
  );
  const approve = { type: "approve" };
  const { id } = asked["consent"]!.open[0]!;
  await kill([
    ...THREADS.filter((thread) => !thread.startsWith("consent")).map((thread) => ({ thread, input: "go" })),
    { thread: "consent", resume: { [id]: approve } },
    { thread: "consent-without-id", resume: approve },
  ]);
  resumed = await finish(THREADS.map((thread) => ({ thread })));
  const answer = (thread: string, decision: object): Job => ({
    thread,
    resume: { [resumed[thread]!.open[0]!.id]: decision },
  });
  answered = await finish([
    answer("ask", approve),
    answer("refuse", { type: "reject", message: "once is enough" }),
    answer("consent", approve),
    { thread: "consent-without-id", resume: approve },
  ]);
}, 120_000);

afterAll(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

describe("a call that was under way when its process was killed", () => {
  it("is not run again by default, and the model is told that its outcome is unknown", () => {
    expect(effectsOf("unknown")).toEqual(["s false"]);
    expect(resumed["unknown"]!.results).toEqual([expect.stringMatching(UNKNOWN), "note: noted"]);
    expect(resumed["unknown"]!.heard).toContainEqual(
      expect.stringContaining("Find out what it has done before you make it again."),
    );
  });

  it("is run again where its tool says so, which knows the call's id and that it may be a repetition", () => {
    expect(effectsOf("repeat")).toEqual(["s false", "s true"]);
    expect(resumed["repeat"]!.results).toEqual(["send: sent", "note: noted"]);
  });

  it("is asked about where its tool says so, and run again when a person allows it", () => {
    const [{ value }] = resumed["ask"]!.open as [Result["open"][0]];
    expect(value).toMatchObject({ type: "consent", call: "s", name: "send", repeated: true });
    expect(value.actionRequests[0]!.description).toContain("It may have had its effect already");
    expect(answered["ask"]!.results).toEqual(["send: sent", "note: noted"]);
    expect(effectsOf("ask")).toEqual(["s false", "s true"]);
  });

  it("is not run again when a person refuses", () => {
    expect(answered["refuse"]!.results[0]).toContain("once is enough");
    expect(effectsOf("refuse")).toEqual(["s false"]);
  });

  it.each(["consent", "consent-without-id"])(
    "and had been approved is asked about again, and says so: %s",
    (thread) => {
      expect(resumed[thread]!.open).toHaveLength(1);
      expect(resumed[thread]!.open[0]!.value).toMatchObject({ call: "s", repeated: true });
    },
  );

  it("runs again with a new approval by the question's id", () => {
    expect(answered["consent"]!.results).toEqual(["send: sent", "note: noted"]);
    expect(effectsOf("consent")).toEqual(["s false", "s true"]);
  });

  it("does not run again on an answer without an id that may be the one from before", () => {
    const [{ value }] = answered["consent-without-id"]!.open as [Result["open"][0]];
    expect(value.error).toContain("Answer this question by its interrupt's id.");
    expect(effectsOf("consent-without-id")).toEqual(["s false"]);
  });

  it("and had ended, but whose result was not saved, counts as one", () => {
    expect(effectsOf("ended")).toEqual(["s false"]);
    expect(resumed["ended"]!.results[0]).toMatch(UNKNOWN);
  });

  it("of a sub-agent is not run again either, and the sub-agent goes on from there", () => {
    expect(effectsOf("sub-agent")).toEqual(["s false"]);
    expect(resumed["sub-agent"]!.results).toEqual(["task: done"]);
    expect(resumed["sub-agent"]!.heard).toContainEqual(expect.stringMatching(/^It is not known/));
  });

  it("of a tool that says it only reads is simply run again", () => {
    expect(linesOf("harmless")).toEqual(["looked", "looked"]);
    expect(resumed["harmless"]!.results).toEqual(["look: seen"]);
  });

  it("is simply run again where that is switched off", () => {
    expect(effectsOf("off")).toEqual(["s false", "s false"]);
  });

  it("does not have the calls beside it run again that had finished", () => {
    for (const thread of [...BESIDE, "sub-agent"]) {
      expect(linesOf(thread).filter((line) => line === "note")).toHaveLength(1);
    }
  });

  it("leaves nothing behind once its step is over", () => {
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

/** Runs threads until all their calls are under way, and kills the process. */
async function kill(jobs: Job[]): Promise<void> {
  child = start(jobs, "hang");
  const failure = text(child.stderr!);
  const isUnderWay = async (): Promise<boolean> => {
    expect(child!.exitCode, child!.exitCode === null ? "" : await failure).toBeNull();
    const begun = BESIDE.every((thread) => effectsOf(thread).length === 1);
    return (
      begun && effectsOf("sub-agent").length === 1 && linesOf("harmless").length === 1 && areNotesSaved()
    );
  };
  while (!(await isUnderWay())) await sleep(50);
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function areNotesSaved(): Promise<boolean> {
  const saver = await sqliteSaver(join(folder, "threads.db"));
  try {
    const places = BESIDE.map((thread) => ({ thread_id: thread, checkpoint_ns: "" }));
    for await (const { config } of saver.list({ configurable: { thread_id: "sub-agent" } })) {
      const { checkpoint_ns: ns } = config.configurable as { checkpoint_ns: string };
      if (ns !== "") places.push({ thread_id: "sub-agent", checkpoint_ns: ns });
    }
    const saved = await Promise.all(places.map((configurable) => saver.getTuple({ configurable })));
    return saved.every((tuple) => tuple?.pendingWrites?.some(([, channel]) => channel === "messages"));
  } finally {
    saver.close();
  }
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
