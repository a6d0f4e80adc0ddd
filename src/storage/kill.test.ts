import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { sqliteSaver } from "./sqlite.ts";

const KILLS = rounds(12);
const TURNS = 10;
const LONGEST_LIFE_MS = 250;

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-kill-"));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

it("a process killed at any moment loses no message or todo; the thread continues", async () => {
  const file = join(folder, "threads.db");
  const journal = join(folder, "journal.txt");
  const program = join(import.meta.dirname, "killed-run.mjs");
  const start = (): ChildProcess => {
    const args = [program, file, journal, String(TURNS)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "pipe"] });
    children.push(child);
    return child;
  };
  // The next process loads while the present one runs.
  const waiting = [start(), start()];
  for (let kill = 0; kill < KILLS; kill++) {
    const victim = waiting.shift()!;
    if (children.length <= KILLS) waiting.push(start());
    const before = worked(journal).length;
    victim.stdin!.write("1000");
    // Every other process dies while it opens the file and picks up the thread, or soon after.
    if (kill % 2 === 0) await until(() => worked(journal).length > before || victim.exitCode !== null);
    await sleep(Math.random() * LONGEST_LIFE_MS);
    expect(victim.exitCode, await failure(victim)).toBeNull();
    victim.kill("SIGKILL");
    await once(victim, "exit");
    await expectNothingLost(file, worked(journal));
  }

  const store = await sqliteSaver(file);
  const begun = (await store.listThreads()).length;
  store.close();
  const last = waiting.shift()!;
  last.stdin!.end(String(begun));
  const [code] = (await once(last, "exit")) as [number];
  expect(code, await failure(last)).toBe(0);

  const saver = await sqliteSaver(file);
  const threads = await saver.listThreads();
  expect(threads.map(({ state, todos }) => ({ state, todos }))).toEqual(
    Array.from({ length: begun }, () => ({ state: "done", todos: { done: TURNS, total: TURNS } })),
  );
  for (const { id } of threads) expect((await read(file, id)).messages.map(outline)).toEqual(undisturbed());
  const calls = worked(journal).map(({ thread, turn }) => `${thread} ${turn}`);
  const repeated = calls.length - new Set(calls).size;
  // Only the call that was running when its process died may run again.
  expect(repeated).toBeLessThanOrEqual(KILLS);
  saver.close();
});

/** A tool call runs after the answer that made it was saved: what was worked on must be in the thread. */
async function expectNothingLost(file: string, done: { thread: string; turn: number }[]): Promise<void> {
  const last = done.at(-1);
  if (!last) return;
  const { thread, turn } = last;
  const { messages, todos } = await read(file, thread);
  const seen = messages.map(outline);
  expect(seen).toEqual(undisturbed().slice(0, seen.length));
  expect(seen).toContain(`ai ${callsOf(turn).join(" ")}`);
  // The plan call of a turn is saved with its result.
  const results = seen.filter((line) => line.startsWith("tool plan-")).length;
  expect(todos.filter(({ status }) => status === "completed").length).toBe(Math.max(0, results - 1));
}

async function read(
  file: string,
  thread: string,
): Promise<{ messages: BaseMessage[]; todos: { status: string }[] }> {
  const saver = await sqliteSaver(file);
  try {
    const tuple = await saver.getTuple({ configurable: { thread_id: thread } });
    const { messages, todos } = tuple!.checkpoint.channel_values;
    return { messages: (messages ?? []) as BaseMessage[], todos: (todos ?? []) as { status: string }[] };
  } finally {
    saver.close();
  }
}

/** The messages of a run that nobody kills. */
function undisturbed(): string[] {
  const turns = Array.from({ length: TURNS + 1 }, (_, turn) => callsOf(turn));
  return [
    "human",
    ...turns.flatMap((calls) => [`ai ${calls.join(" ")}`, ...calls.map((call) => `tool ${call}`)]),
    "ai ",
  ];
}

function callsOf(turn: number): string[] {
  return [`plan-${turn}`, `work-${turn}`];
}

function outline(message: BaseMessage): string {
  if (message.getType() === "human") return "human";
  if (message.getType() === "tool")
    return `tool ${(message as BaseMessage & { tool_call_id: string }).tool_call_id}`;
  return `ai ${((message as AIMessage).tool_calls ?? []).map(({ id }) => id).join(" ")}`;
}

function worked(journal: string): { thread: string; turn: number }[] {
  if (!existsSync(journal)) return [];
  const lines = readFileSync(journal, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const [thread = "", turn = ""] = line.split(" ");
    return { thread, turn: Number(turn) };
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

async function failure(child: ChildProcess): Promise<string> {
  return child.exitCode === null ? "" : String(child.stderr!.read() ?? "");
}
