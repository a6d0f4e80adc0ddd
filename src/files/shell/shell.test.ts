import { spawn, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import { canIsolate } from "../../../scripts/bubblewrap.mjs";
import { isRelease } from "../../../test/helpers/runner/rounds.ts";
import type { ExecuteOptions, Execution } from "../backend/index.ts";
import { CappedOutput } from "./capped-output.ts";
import { shellBackend, type ShellOptions } from "./index.ts";
import { renderExecution } from "./run-command.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-shell-")));
afterAll(() => rmSync(root, { recursive: true }));

/** On a busy machine a shell takes its time to begin. */
const TIME_TO_BEGIN_MS = 5000;

async function run(command: string, call?: ExecuteOptions, options?: ShellOptions): Promise<Execution> {
  const result = await shellBackend(root, { isolation: "never", ...options }).execute!(command, call);
  if (!result.ok) throw new Error(result.error);
  return result;
}

/** Whether a process is there; one that has ended and waits to be collected is not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function pidIn(file: string): number {
  return Number(readFileSync(join(root, file), "utf8"));
}

describe.skipIf(process.platform === "win32")("a shell backend", { timeout: 120_000 }, () => {
  it("runs a command in its root and reports output and exit code", async () => {
    expect(await run("pwd; echo oops >&2; exit 3")).toMatchObject({
      output: `${root}\noops\n`,
      exitCode: 3,
      timedOut: false,
      truncated: false,
    });
    expect(await run("cat")).toMatchObject({ output: "", exitCode: 0 });
    expect(await run("kill -9 $$")).toMatchObject({ exitCode: null, timedOut: false });
  });

  it("has git obey no repository that file tools wrote as plain files", async () => {
    const dir = mkdtempSync(join(root, "bare-"));
    const backend = shellBackend(dir, { isolation: "never" });
    const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch ${dir}/ran; false"\n`;
    const files = { HEAD: "ref: refs/heads/x\n", config, "objects/a": "", "refs/a": "" };
    for (const [path, text] of Object.entries(files)) await backend.write(`/${path}`, text);
    expect(await backend.execute!("git status")).toMatchObject({ exitCode: 128 });
    expect(readdirSync(dir)).not.toContain("ran");
    expect(await backend.execute!("git init -q work && git -C work status -s")).toMatchObject({
      exitCode: 0,
    });
  });

  it("sees the files of its backend, and the other way round", async () => {
    const backend = shellBackend(root);
    await backend.write("/in.txt", "hello");
    await run("tr a-z A-Z < in.txt > out.txt");
    expect(await backend.read("/out.txt")).toEqual({ ok: true, content: "HELLO" });
  });

  it("refuses a new file in /tmp, which differs for commands, and names another path", async () => {
    const backend = shellBackend(root);
    expect(await backend.write("/tmp/check.mjs", "x")).toMatchObject({
      ok: false,
      error: expect.stringMatching(
        /^\/tmp\/check\.mjs was not written: .* Write \/check\.mjs, or have a command/,
      ),
    });
    expect(readdirSync(root)).not.toContain("tmp");
    mkdirSync(join(root, "tmp"));
    expect(await backend.write("/tmp/check.mjs", "x")).toMatchObject({ ok: true });
    rmSync(join(root, "tmp"), { recursive: true });
  });

  it("says that file tools do not see the commands' /tmp if a file in it is missing", async () => {
    const backend = shellBackend(root);
    const hint = expect.stringContaining("The file tools do not see the /tmp of commands");
    for (const path of ["/tmp", "/tmp/x"]) expect(await backend.list(path)).toMatchObject({ error: hint });
    expect(await backend.read("/tmp/x")).toMatchObject({ error: hint, reason: "missing" });
    expect(await backend.readBytes("/tmp/x")).toMatchObject({ error: hint });
    expect(await backend.grep({ pattern: "x", path: "/tmp" })).toMatchObject({ error: hint });
    expect(await backend.glob("*", { path: "/tmp" })).toMatchObject({ error: hint });
    expect(await backend.read("/tmpx")).toMatchObject({ error: expect.not.stringContaining("commands") });
    mkdirSync(join(root, "tmp"));
    expect(await backend.read("/tmp/x")).toMatchObject({ error: expect.not.stringContaining("commands") });
    rmSync(join(root, "tmp"), { recursive: true });
  });

  it("ends a command and everything it started at the time limit", async () => {
    const command = "echo $$ > sh.pid; (sleep 600 & echo $! > child.pid; wait); echo never";
    const result = await run(`echo begun; ${command}`, { timeoutMs: TIME_TO_BEGIN_MS });
    expect(result).toMatchObject({ output: "begun\n", exitCode: null, timedOut: true, truncated: false });
    expect(renderExecution(result)).toBe(
      `begun\n[Stopped at the time limit of ${TIME_TO_BEGIN_MS / 1000} s.]`,
    );
    expect([pidIn("sh.pid"), pidIn("child.pid")].filter(isAlive)).toEqual([]);
  });

  it.runIf(isRelease)("ends by force what does not end when asked", async () => {
    const stubborn = `trap "" TERM; echo $$ > stubborn.pid; while :; do sleep 1; done`;
    const result = await run(`sh -c '${stubborn}'`, { timeoutMs: TIME_TO_BEGIN_MS });
    expect(result.timedOut).toBe(true);
    await vi.waitFor(() => expect(isAlive(pidIn("stubborn.pid"))).toBe(false), { timeout: 120_000 });
  });

  it("ends background processes when their command ends", async () => {
    const result = await run("sleep 600 & echo $! > left.pid; echo done");
    expect(result).toMatchObject({ output: "done\n", exitCode: 0, timedOut: false });
    expect(isAlive(pidIn("left.pid"))).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "ends what has left its group, its session and its parent",
    async () => {
      const away = `setsid sh -c '(setsid sh -c "echo \\$\\$ > away.pid; sleep 600" &) & sleep 0.1'`;
      const result = await run(`${away}; while [ ! -s away.pid ]; do sleep 0.01; done; echo done`);
      expect(result).toMatchObject({ output: "done\n", exitCode: 0, timedOut: false });
      expect(isAlive(pidIn("away.pid"))).toBe(false);
      const late = await run(`rm away.pid; ${away}; sleep 600`, { timeoutMs: TIME_TO_BEGIN_MS });
      expect(late.timedOut).toBe(true);
      expect(isAlive(pidIn("away.pid"))).toBe(false);
    },
  );

  it("leaves no process running when Holdfast is killed", async () => {
    const program = `import { shellBackend } from "./src/files/index.ts";
      await shellBackend(${JSON.stringify(root)}, { isolation: "never" }).execute("echo $$ > orphan.pid; setsid sleep 600 & echo $! > orphan-away.pid; wait");`;
    const harness = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program]);
    await vi.waitFor(() => expect(pidIn("orphan-away.pid")).toBeGreaterThan(0), { timeout: 120_000 });
    const pids = [pidIn("orphan.pid"), ...(process.platform === "linux" ? [pidIn("orphan-away.pid")] : [])];
    expect(pids.filter(isAlive)).toEqual(pids);
    harness.kill("SIGKILL");
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 120_000 });
  });

  it("has a limit for the limit that a call asks for", async () => {
    const result = await run("sleep 600", { timeoutMs: 10 ** 9 }, { maxTimeoutMs: 200 });
    expect(result.timedOut).toBe(true);
  });

  it("throws the reason of an abort when the processes are gone", async () => {
    const abort = new AbortController();
    const running = run("echo $$ > aborted.pid; sleep 600", { signal: abort.signal });
    await vi.waitFor(() => expect(pidIn("aborted.pid")).toBeGreaterThan(0), { timeout: 120_000 });
    abort.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    expect(isAlive(pidIn("aborted.pid"))).toBe(false);
    await expect(run("echo x > not-run", { signal: abort.signal })).rejects.toThrow("enough");
    expect(await shellBackend(root).read("/not-run")).toMatchObject({ ok: false });
  });

  it("keeps the head and the tail of long output", async () => {
    const { output, truncated } = await run("seq 1 100000", {}, { maxOutput: 1000 });
    expect(truncated).toBe(true);
    expect(output.startsWith("1\n2\n3\n")).toBe(true);
    expect(output.endsWith("99999\n100000\n")).toBe(true);
    expect(output).toMatch(/\[\d+ characters of output left out\]/);
    expect(output.length).toBeLessThan(1100);
  });

  it("passes only the listed variables to a command", async () => {
    vi.stubEnv("HOLDFAST_SECRET", "hush").stubEnv("HOLDFAST_SHARED", "hello");
    const { output } = await run("env", {}, { passEnv: ["HOLDFAST_SHARED"], env: { EXTRA: "1" } });
    vi.unstubAllEnvs();
    expect(output).not.toContain("hush");
    expect(output).toContain("HOLDFAST_SHARED=hello");
    expect(output).toContain("EXTRA=1");
    expect(output).toContain("PATH=");
  });

  it("refuses an empty command and a command with a null character", async () => {
    const backend = shellBackend(root);
    expect(await backend.execute!("  ")).toMatchObject({
      ok: false,
      error: expect.stringContaining("empty") as string,
    });
    expect(await backend.execute!("echo \0")).toMatchObject({ ok: false });
  });
});

describe.runIf(canIsolate())("an isolated command", { timeout: 120_000 }, () => {
  const isolated = (command: string, call?: ExecuteOptions, options?: ShellOptions): Promise<Execution> =>
    run(command, call, { isolation: "always", ...options });

  it("works in its root as any other", async () => {
    expect(await isolated("pwd; echo oops >&2; echo new > made.txt; exit 3")).toMatchObject({
      output: `${root}\noops\n`,
      exitCode: 3,
      timedOut: false,
    });
    expect(readFileSync(join(root, "made.txt"), "utf8")).toBe("new\n");
    expect(await isolated("echo $((6 * 7)) > /tmp/x && cat /tmp/x")).toMatchObject({ output: "42\n" });
  });

  it("has no capabilities, also as root: it cannot mount the disk writable", async () => {
    const { output } = await isolated(
      "grep CapEff /proc/self/status; mount -o remount,rw,bind / && echo got",
    );
    expect(output).toContain("CapEff:\t0000000000000000");
    expect(output).not.toContain("got");
  });

  it("writes nowhere else, sees no keys, no other process and no network", async () => {
    const home = mkdtempSync(join(tmpdir(), "holdfast-home-"));
    mkdirSync(join(home, ".ssh"));
    writeFileSync(join(home, ".ssh/id"), "hush-hush");
    writeFileSync(join(home, ".netrc"), "hush-hush");
    vi.stubEnv("HOME", home).stubEnv("OPENAI_API_KEY", "sk-hush");
    const look = `ls -A ${home}/.ssh; cat ${home}/.netrc; cat /proc/*/environ; ls /proc`;
    const { output } = await isolated(look).finally(() => vi.unstubAllEnvs());
    rmSync(home, { recursive: true });
    expect(output).not.toMatch(/hush|^id$/m);
    expect(output.split("\n").filter((name) => /^\d+$/.test(name)).length).toBeLessThan(6);
    expect(await isolated("echo x > /usr/holdfast-was-here")).toMatchObject({
      exitCode: expect.not.stringMatching("0") as number,
      output: expect.stringContaining("Read-only") as string,
    });
    expect((await isolated("cat /proc/net/dev")).output).not.toContain("eth");
  });

  it("cannot change what other programs run for the user", async () => {
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    writeFileSync(join(root, ".git/config"), "[core]\n");
    const result = await isolated(
      "echo hook > .git/hooks/pre-commit; echo x >> .git/config; mv .git/hooks away; echo y > .git/index",
    );
    expect(result.output).toContain("Read-only");
    expect(readFileSync(join(root, ".git/config"), "utf8")).toBe("[core]\n");
    expect(readdirSync(join(root, ".git/hooks"))).toEqual([]);
    expect(readFileSync(join(root, ".git/index"), "utf8")).toBe("y\n");
  });

  it("ends with everything it started, at its end and at the time limit", async () => {
    const away = `setsid sleep 601 & setsid sh -c 'sleep 601' & echo begun`;
    expect(await isolated(away)).toMatchObject({ output: "begun\n", exitCode: 0 });
    expect(await isolated(`${away}; sleep 601`, { timeoutMs: TIME_TO_BEGIN_MS })).toMatchObject({
      timedOut: true,
    });
    const { stdout } = spawnSync("ps", ["-eo", "args"], { encoding: "utf8" });
    expect(stdout.split("\n").filter((line) => line.endsWith("sleep 601"))).toEqual([]);
  });

  it("leaves no process running when Holdfast is killed", async () => {
    // Its numbers are others outside, so it is known by its arguments.
    const left = (): string[] =>
      spawnSync("ps", ["-eo", "args"], { encoding: "utf8" })
        .stdout.split("\n")
        .filter((line) => line === "sleep 602");
    const program = `import { shellBackend } from "./src/files/index.ts";
      await shellBackend(${JSON.stringify(root)}, { isolation: "always" }).execute("setsid sleep 602 & sleep 602");`;
    const harness = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program]);
    await vi.waitFor(() => expect(left()).toHaveLength(2), { timeout: 120_000 });
    harness.kill("SIGKILL");
    await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 120_000 });
  });
});

it("is refused when isolation is required but unavailable", () => {
  const program = `import { shellBackend } from "./src/files/index.ts";
    console.log(JSON.stringify(await shellBackend(${JSON.stringify(root)}, { isolation: "always" }).execute("echo ran")));`;
  const { stdout } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    encoding: "utf8",
    env: { PATH: "/nowhere" },
  });
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    error: expect.stringContaining("bubblewrap") as string,
  });
});

describe("CappedOutput", () => {
  it("keeps everything up to the limit, and head and tail past it", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 9 })), fc.integer({ min: 2, max: 30 }), (pieces, limit) => {
        const output = new CappedOutput(limit);
        for (const piece of pieces) output.push(piece);
        const all = pieces.join("");
        const half = Math.floor(limit / 2);
        expect(output.truncated).toBe(all.length > half * 2);
        const note = `\n[${all.length - half * 2} characters of output left out]\n`;
        const cut = all.slice(0, half) + note + all.slice(-half);
        expect(output.toString()).toBe(all.length > half * 2 ? cut : all);
      }),
    );
  });
});
