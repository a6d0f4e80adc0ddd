import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isRelease } from "../../../../test/helpers/runner/rounds.ts";
import { Disk } from "../disk.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-keeper-")));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Starts a process that uses files without descriptors, and says what it says. */
function program(body: string) {
  const disk = JSON.stringify(new URL("../disk.ts", import.meta.url).href);
  const text = `
    import { execFileSync } from "node:child_process";
    const { Disk } = await import(${disk});
    const disk = new Disk(${JSON.stringify(root)}, {}, false);
    const keeper = () => Number(execFileSync("pgrep", ["-P", process.pid, "-f", "keeper-process"]));
    ${body}`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", text], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { child, said: child.stdout.setEncoding("utf8") as AsyncIterable<string> };
}

async function allOf(said: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of said) text += part;
  return text;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.runIf(isRelease)(
  "the keeper does not hold a finished process, and ends with a killed process",
  async () => {
    const done = program(`await disk.write("/a.txt", "x"); console.log(keeper());`);
    const [said, [code]] = await Promise.all([allOf(done.said), once(done.child, "exit")]);
    expect(code).toBe(0);
    const killed = program(
      `await disk.write("/a.txt", "x"); console.log(keeper()); setInterval(() => {}, 1000);`,
    );
    const [first] = (await once(killed.child.stdout, "data")) as [string];
    killed.child.kill("SIGKILL");
    for (const pid of [Number(said), Number(first)]) {
      expect(pid).toBeGreaterThan(0);
      while (isThere(pid)) await sleep(20);
    }
  },
);

it("a call whose keeper is killed fails with a sentence, and the next has a new one", async () => {
  const { said } = program(`
    await disk.write("/a.txt", "x");
    const pid = keeper();
    process.kill(pid, "SIGSTOP");
    const read = disk.read("/a.txt");
    process.kill(pid, "SIGKILL");
    console.log(JSON.stringify([await read, await disk.read("/a.txt"), keeper() !== pid]));`);
  expect(JSON.parse(await allOf(said))).toEqual([
    { ok: false, error: `"/a.txt" cannot be used (ECONNRESET).` },
    { ok: true, content: "x" },
    true,
  ]);
});

it("parallel calls in several folders of several roots do not disturb each other", async () => {
  const disks = ["one", "two"].map((name) => new Disk(join(root, name), {}, false));
  const files = Array.from({ length: 60 }, (_, n) => ({
    disk: disks[n % 2]!,
    path: `/${n % 5}/${n}.txt`,
    content: `\u{1F600}\r\n${n}`.repeat(n * 100),
  }));
  await Promise.all(files.map(({ disk, path, content }) => disk.write(path, content)));
  const read = await Promise.all(files.map(({ disk, path }) => disk.read(path)));
  expect(read).toEqual(files.map(({ content }) => ({ ok: true, content })));
});
