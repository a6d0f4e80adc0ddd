import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { live } from "../../bench/live/index.ts";
import type { LiveReport } from "../../bench/live/report.ts";
import type { ResultsHead, RunRecord } from "../../bench/live/results.ts";
import { runTask } from "../../bench/live/run.ts";
import { LIVE_SYSTEMS } from "../../bench/live/systems.ts";
import { assignmentOf, LIVE_TASKS } from "../../bench/live/tasks/index.ts";
import { bubblewrapWorks } from "../../src/files/shell/isolation/bubblewrap.ts";
import { callTool, ScriptedModel, type Step } from "../../src/testing/index.ts";
import { bad, good, SPENT, startPlayer } from "../helpers/models/live-model.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-live-bench-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());
const SANDBOX = bubblewrapWorks() ? [] : ["--no-sandbox"];
/** Dollars per call of a player: input, cached and output at a dollar, a dime and ten dollars per million tokens. */
const CALL = (SPENT.input - SPENT.cached + SPENT.cached / 10 + SPENT.output * 10) / 1_000_000;

interface Command {
  child: ChildProcess;
  out: () => string;
  err: () => string;
  ended: Promise<number | null>;
}

const MAIN = ["--import", "tsx", "bench/main.ts"];
const MOCK = ["--model", "openai-compatible:mock", "--prices", "1,10,0.1", "--retries", "0"];

/** Starts the real command on a server of a test. */
const start = (url: string, out: string, ...args: string[]): Command => startAs(MAIN, url, out, ...args);

function startAs(program: readonly string[], url: string, out: string, ...args: string[]): Command {
  const command = [...program, "--live", ...MOCK, "--out", join(folder, out), ...SANDBOX, ...args];
  const env = { ...process.env, HOLDFAST_BASE_URL: url };
  const child = spawn(process.execPath, command, { env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, out: () => stdout, err: () => stderr, ended };
}

/** The same in this process, which has loaded everything already. */
async function call(
  out: string,
  ...args: string[]
): Promise<{ code: number; said: string[]; printed: string }> {
  const [said, printed]: [string[], string[]] = [[], []];
  const error = vi.spyOn(console, "error").mockImplementation((line: string) => void said.push(line));
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void printed.push(line));
  const code = await live(["--live", "--out", join(folder, out), ...SANDBOX, ...args]);
  error.mockRestore();
  log.mockRestore();
  return { code, said, printed: printed.join("\n") };
}

function read(out: string): { head: ResultsHead; records: RunRecord[]; report: () => LiveReport } {
  const [head, ...lines] = readFileSync(join(folder, out, "runs.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean);
  return {
    head: JSON.parse(head!) as ResultsHead,
    records: lines.flatMap((line) => (line.endsWith("}") ? [JSON.parse(line) as RunRecord] : [])),
    report: () => JSON.parse(readFileSync(join(folder, out, "report.json"), "utf8")) as LiveReport,
  };
}

async function recordsReach(out: string, count: number, { child }: Command): Promise<void> {
  for (;;) {
    const done = (() => {
      try {
        return read(out).records.length;
      } catch {
        return 0;
      }
    })();
    if (done >= count) return;
    if (child.exitCode !== null) throw new Error("The command ended before.");
    await sleep(20);
  }
}

describe("the live benchmark", () => {
  it("continues after a kill, a spent budget and Ctrl-C, and repeats nothing", async () => {
    const server = await startPlayer(() => good);
    vi.stubEnv("HOLDFAST_BASE_URL", server.url);
    const args = ["--tasks", "2", "--parallel", "1"];
    const killed = start(server.url, "good", ...args);
    await recordsReach("good", 1, killed);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const afterKill = read("good").records;

    const before = server.requests.length;
    const { code, said } = await call("good", ...MOCK, ...args, "--budget", String(CALL * 9.5));
    expect(code).toBe(0);
    const text = said.join("\n");
    expect(text).toContain(`10 runs, ${afterKill.length} of them done`);
    expect(text).toMatch(/The others take about \$\d/);
    expect(text).toMatch(/finished, 8 calls, 8\.0k in \(3\.2k cached\), 400 out; so far \$/);
    expect(text).toContain("stopped at the budget. The same command resumes it.");
    expect(server.requests.length - before).toBe(10);
    const afterBudget = read("good").records;
    expect(afterBudget.at(-1)!.end).toBe("interrupted");
    const bought = afterBudget.slice(afterKill.length);
    expect(bought.reduce((sum, { modelCalls }) => sum + modelCalls, 0)).toBe(10);

    // Started as `npm run bench` does it: what stops that stops the runs, which cost.
    const ended = startAs(["bench/start.mjs"], server.url, "good", ...args);
    await recordsReach("good", afterBudget.length + 1, ended);
    ended.child.kill("SIGTERM");
    expect(await ended.ended).toBe(130);
    const afterEnd = read("good").records.length;

    const stopped = start(server.url, "good", ...args);
    await recordsReach("good", afterEnd + 1, stopped);
    // It must not come to its end meanwhile.
    stopped.child.kill("SIGSTOP");
    const second = await call("good", ...MOCK, ...args);
    expect(second.said.at(-1)).toContain(`Process ${stopped.child.pid} is writing to`);
    stopped.child.kill("SIGINT");
    stopped.child.kill("SIGCONT");
    expect(await stopped.ended).toBe(130);
    expect(stopped.err()).toContain("bench: stopped. The same command resumes it.");
    expect(stopped.out()).toContain("report.md (and report.json)");

    const last = await call("good", ...MOCK, ...args);
    expect(last.code).toBe(0);
    server.stop();
    const { records, report } = read("good");
    const counted = records.filter(({ end }) => end !== "interrupted");
    expect(records.slice(0, afterBudget.length)).toEqual(afterBudget);
    expect(new Set(counted.map(({ task, system }) => `${task} ${system}`)).size).toBe(10);
    expect(counted).toHaveLength(10);
    expect(counted.filter(({ solved }) => !solved)).toEqual([]);
    for (const name of ["no plan", "todoListMiddleware", "classic", "lean", "inline"]) {
      expect(last.printed).toMatch(new RegExp(`^\\| ${name} \\| 2 \\| 100% \\(`, "m"));
    }
    const calls = counted.reduce((sum, { modelCalls }) => sum + modelCalls, 0);
    const cost = report().rows.reduce((sum, row) => sum + row.cost!.value * row.runs, 0);
    expect(cost).toBeCloseTo(calls * CALL, 10);
    const written = readFileSync(join(folder, "good", "report.md"), "utf8");
    expect(written).toContain("## Beside no plan, on the same tasks");
    expect(written).toContain("| lean | 2 | 0% (");
  });

  it("retries provider failures without counting them, and counts model failures", async () => {
    let status = 500;
    const server = await startPlayer(() => bad, { status: () => status });
    vi.stubEnv("HOLDFAST_BASE_URL", server.url);
    const args = ["--model", "openai-compatible:mock", "--retries", "0", "--tasks", "3", "--parallel", "1"];
    const failed = await call("bad", ...args);
    expect(failed.code).toBe(1);
    expect(failed.said.at(-1)).toMatch(/failed \(500\).*The same command resumes it/);
    expect(read("bad").records.map(({ end }) => end)).toEqual(Array(3).fill("infrastructure"));
    status = 200;
    expect((await call("bad", ...args)).code).toBe(0);
    server.stop();
    const { notCounted, rows } = read("bad").report();
    expect(notCounted.infrastructure).toBe(3);
    expect(rows.map(({ runs, finished }) => `${runs}: ${finished.value}`)).toEqual(Array(5).fill("3: 0"));
  });
});

describe("a run", () => {
  it("is ended when it does not end, and is judged by its files", async () => {
    const assignment = assignmentOf(LIVE_TASKS[4]!, "1/1");
    const { figures } = await runTask({
      system: LIVE_SYSTEMS[0]!,
      assignment,
      model: new ScriptedModel(Array<Step>(100).fill(callTool("ls", {}))),
      sandbox: { isolation: bubblewrapWorks() ? "always" : "never" },
      signal: new AbortController().signal,
      onUsage: () => {},
    });
    expect(figures).toMatchObject({ end: "out-of-calls", modelCalls: 80, toolCalls: 80, solved: false });
    expect(figures.problems[0]).toContain("revenue.json is missing");
  });

  it("counts after a refused request, unless the provider refuses the first request", async () => {
    let requests = 0;
    const server = await startPlayer(() => good, { status: () => (requests++ === 0 ? 200 : 400) });
    vi.stubEnv("HOLDFAST_BASE_URL", server.url);
    const args = ["--model", "openai-compatible:mock", "--retries", "0", "--tasks", "1", "--parallel", "1"];
    expect((await call("refused", ...args)).code).toBe(1);
    server.stop();
    const ends = read("refused").records.map(({ end }) => end);
    expect(ends).toEqual(["crashed", "infrastructure", "infrastructure", "infrastructure"]);
  });
});

describe("a mistake of the user gives one line:", () => {
  const variables = ["OPENAI_API_KEY", "HOLDFAST_BASE_URL", "OPENAI_BASE_URL", "HOLDFAST_PRICES"];

  async function failure(...args: string[]): Promise<string> {
    const { code, said } = await call("wrong", ...args);
    expect(code).not.toBe(0);
    return said.at(-1)!;
  }

  it.each([
    [[], "--live needs --model provider:name"],
    [["--model", "openai:x", "--taks", "3"], "Unknown option '--taks'"],
    [["--model", "openai:x", "--tasks", "0"], "--tasks takes a whole number from 1 on"],
    [["--model", "openai:x", "--tasks", "999"], "for more runs use --rounds"],
    [["--model", "openai:x", "--budget", "5"], "--budget needs --prices"],
    [["--model", "openai:x"], "needs an API key: set OPENAI_API_KEY"],
    [["--model", "nobody:x"], "nobody"],
  ])("%j", async (args, text) => {
    for (const name of variables) vi.stubEnv(name, "");
    expect(await failure(...args)).toContain(text);
  });

  it("money without leave, after the estimate", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-none");
    vi.stubEnv("OPENAI_BASE_URL", "http://model.invalid/v1");
    expect(await failure("--model", "openai:x", "--prices", "3,15")).toContain("say --yes");
  });

  it("a budget with a server that does not report the cost of a call", async () => {
    const server = await startPlayer(() => good, { isMetered: false });
    vi.stubEnv("HOLDFAST_BASE_URL", server.url);
    const args = ["--model", "openai-compatible:mock", "--prices", "1,1", "--budget", "1", "--parallel", "1"];
    expect(await failure(...args)).toContain("no budget can be kept");
    server.stop();
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [401, "did not accept the API key"],
    [404, 'has no model "mock"'],
  ])("a provider that says %i", async (status, text) => {
    const server = await startPlayer(() => good, { status: () => status });
    vi.stubEnv("HOLDFAST_BASE_URL", server.url);
    vi.stubEnv("HOLDFAST_API_KEY", "sk-none");
    expect(await failure("--model", "openai-compatible:mock", "--retries", "0")).toContain(text);
    server.stop();
    expect(server.requests.length).toBeLessThan(3);
    expect(existsSync(join(folder, "wrong", "runs.jsonl"))).toBe(false);
  });
});
