import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newDatabase } from "../helpers/postgres/database.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
let home: string;
let env: NodeJS.ProcessEnv;
const started = new Set<ChildProcess>();

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-cluster-"));
  env = { PATH: process.env["PATH"], HOME: home, HOLDFAST_DATABASE_URL: await newDatabase() };
});
afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  started.clear();
  rmSync(home, { recursive: true });
});

const holdfast = (...args: string[]) => inPipes(args, { cwd: home, env });

/** Starts a command that goes on, and resolves to its first line. */
async function starting(...args: string[]): Promise<{
  line: string;
  next: () => Promise<void>;
  stop: () => Promise<number | null>;
}> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: home,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.add(child);
  const ended = new Promise<number | null>((resolve) => {
    child.on("exit", (code) => resolve(code));
  });
  let text = "";
  child.stdout.on("data", (piece: Buffer) => (text += piece.toString()));
  const lines = async (count: number): Promise<void> => {
    while (text.split("\n").length <= count) await once(child.stdout, "data");
  };
  await lines(1);
  const stop = (): Promise<number | null> => {
    child.kill("SIGTERM");
    return ended;
  };
  return { line: text.split("\n")[0]!, next: () => lines(2), stop };
}

it("a server without runs and a worker with runs show their state", async () => {
  const [server, worker] = await Promise.all([
    starting("serve", "--port", "0", "--no-work", "--model", "offline", "--dir", "."),
    starting("worker", "--model", "offline", "--dir", ".", "--slots", "2", "--limit", "model:offline=1"),
  ]);
  expect(worker.line).toMatch(/ takes runs$/);
  const [, url = "", token = ""] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/.exec(server.line) ?? [];
  const client = new Client({ apiUrl: url, apiKey: token, callerOptions: { maxRetries: 0 } });
  const { thread_id: thread } = await client.threads.create({ threadId: "survey" });
  const input = { messages: [{ type: "human", content: "Survey this directory" }] };
  await client.runs.wait(thread, "holdfast", { input });
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const text = await metrics.text();
  expect(text).toContain('holdfast_workers{state="working"} 1\n');
  expect(text).toContain('holdfast_runs{status="success"} 1\n');
  expect(text).toContain('holdfast_queue_depth{queue="runs"} 0\n');

  const [json, lines, threads, watching] = await Promise.all([
    holdfast("status", "--json"),
    holdfast("status"),
    holdfast("threads"),
    starting("status", "--watch", "--json"),
  ]);
  expect(JSON.parse(json.out)).toMatchObject({
    workers: [{ state: "working", slots: 2, running: 0 }],
    queues: [{ name: "runs", depth: 0, limited: 0, delayed: 0 }],
    runs: { success: 1, error: 0 },
  });
  expect(lines.out).toMatch(
    /^Queue runs: nothing waits\nRuns: .* 1 done.*\nWorker .*: working, 0 of 2 slots of runs/,
  );
  expect(threads.out).toContain("survey");
  expect(JSON.parse(watching.line)).toMatchObject({ runs: { success: 1 } });
  await watching.next();
  expect(await watching.stop()).toBe(0);

  const added = await holdfast(
    "schedule",
    "0 9 * * *",
    "Survey this directory",
    "--model",
    "offline",
    "--json",
  );
  const { id } = JSON.parse(added.out) as { id: string };
  expect((await holdfast("schedule")).out).toMatch(/ \(0 9 \* \* \*, next \S+Z\): Survey this directory\n$/);
  expect((await holdfast("schedule", "--remove", id)).code).toBe(0);

  await holdfast("schedule", "0 9 * * *", "Survey it again", "--thread", "survey", "--model", "offline");
  expect(await holdfast("rm", "survey")).toMatchObject({ code: 0, out: "Deleted survey.\n" });
  await expect(client.threads.get(thread)).rejects.toThrow("404");
  await expect(client.runs.list(thread)).rejects.toThrow("404");

  expect(await worker.stop()).toBe(0);
  const [none, empty, code] = await Promise.all([holdfast("status"), holdfast("schedule"), server.stop()]);
  expect(none.out).toContain("Workers: none");
  expect([empty.out, code]).toEqual(["", 0]);
});

it("a worker reports a missing option in one line", async () => {
  env = { PATH: process.env["PATH"], HOME: home };
  const failed = await Promise.all([
    holdfast("worker", "--model", "offline"),
    holdfast("worker", "--limit", "tenant"),
    holdfast("worker", "--queues", "runs,at night"),
  ]);
  expect(failed).toEqual(
    ["--database or HOLDFAST_DATABASE_URL", "--limit tenant", '"at night" is no name of a queue'].map(
      (text) => ({ code: 2, out: "", err: expect.stringMatching(`^holdfast: .*${text}.*\n$`) as string }),
    ),
  );
});
