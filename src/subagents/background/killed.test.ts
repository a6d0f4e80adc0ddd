import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

interface Result {
  texts: string[];
  files: Record<string, string>;
  open: { id: string; value: { owner: string; name: string } }[];
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-killed-background-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(thread: string, mode: string, answers?: object) {
  const files = [join(folder, `${thread}.db`), join(folder, "effects")];
  const script = join(import.meta.dirname, "killed-background.mjs");
  const args = [script, ...files, thread, mode, ...(answers ? [JSON.stringify(answers)] : [])];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Kills the process that runs a thread as soon as something has happened in it. */
async function kill(thread: string, when: () => boolean, answers?: object): Promise<void> {
  const child = start(thread, "hang", answers);
  while (!when()) {
    if (child.exitCode !== null) throw new Error("The process ended by itself.");
    await sleep(20);
  }
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function finish(thread: string, answers?: object): Promise<Result> {
  return JSON.parse(await text(start(thread, "end", answers).stdout)) as Result;
}

function effects(thread: string): string[] {
  const file = join(folder, "effects");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.filter((line) => line.startsWith(`${thread} sent`)).map((line) => line.split(" ")[2]!);
}

describe("a kill in the middle of a sub-agent in the background", () => {
  it("loses nothing: it continues in the next process and repeats no finished call", async () => {
    await kill("works", () => effects("works").length === 2);
    const { texts, files } = await finish("works");
    expect(effects("works")).toEqual(["first", "second", "second", "third"]);
    expect(files).toEqual({ "/report": "3 leaks" });
    expect(texts.at(-1)).toBe("All told.");
    expect(texts.filter((one) => one.includes("Found 3 leaks."))).toHaveLength(1);
    expect(texts.filter((one) => one.startsWith("Started"))).toEqual(["Started in the background as b1."]);
  });

  it("keeps its question, which is answered in another process", async () => {
    await kill("asks", () => effects("asks").length === 2);
    const { open } = await finish("asks");
    expect(open.map(({ value }) => value.name)).toEqual(["write_file"]);
    expect(open[0]!.value.owner).toBe("main/scout:t");
    const { texts, files } = await finish("asks", { [open[0]!.id]: { type: "approve" } });
    expect(files).toEqual({ "/report": "3 leaks" });
    expect(texts.at(-1)).toBe("All told.");
    expect(effects("asks")).toEqual(["first", "second", "second", "third"]);
  });
});
