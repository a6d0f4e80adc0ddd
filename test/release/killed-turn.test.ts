import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** What a thread has come to. */
interface Ended {
  results: Record<string, string>;
  answer: string;
  files: Record<string, string>;
  log: string;
  plan: string[];
}

const PROGRAM = join(import.meta.dirname, "../helpers/models/killed-turn.mjs");
const UNKNOWN = /^This (\w+) call was interrupted: it may or may not have had its effect/;

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-killed-turn-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Kills a turn at every point, each time in a thread of its own that another process ends. */
async function killEverywhere(place: string): Promise<{ calm: Ended; killed: Ended[] }> {
  const read = (name: string): Ended =>
    // A file that was written before the kill is replaced by the write after it.
    JSON.parse(
      readFileSync(join(root, `${place}-${name}.json`), "utf8").replaceAll('"Replaced /', '"Created /'),
    ) as Ended;
  for (let at = 0; ; at += 1) {
    const child = spawn(process.execPath, [PROGRAM, root, place, String(at)], { stdio: "pipe" });
    const failure = text(child.stderr);
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    if (code === 0) {
      const killed = Array.from({ length: at }, (_, number) => read(String(number)));
      return { calm: read("calm"), killed };
    }
    expect(signal, `${place} ${at}: ${await failure}`).toBe("SIGKILL");
  }
}

const unknown = ({ results }: Ended): string[] =>
  Object.values(results).flatMap((result) => UNKNOWN.exec(result)?.[1] ?? []);

const LINES = ["a+\n", "b\n"];
const timesIn = (log: string, line: string): number => log.split(line).length - 1;

describe.concurrent("a message of eight calls, killed at every write and every effect", () => {
  for (const [place, where] of [
    ["disk", "on a disk"],
    ["thread", "in the thread"],
  ] as const) {
    it(`gives the same result with files ${where}, with at most one unknown outcome`, async () => {
      const { calm, killed } = await killEverywhere(place);
      expect(calm).toMatchObject({
        files: { "a.txt": "a+\n", "b.txt": "b\n" },
        log: LINES.join(""),
        plan: ["completed build", "completed check"],
        answer: "done",
      });
      expect(killed.length).toBeGreaterThan(30);
      const whole = killed.filter((one) => unknown(one).length === 0);
      expect(whole.length).toBeGreaterThan(killed.length / 3);
      for (const one of whole) expect(one).toEqual(calm);
      for (const one of killed.filter((other) => unknown(other).length > 0)) {
        const [name, ...others] = unknown(one);
        expect(others).toEqual([]);
        expect(place === "disk" ? ["edit_file", "execute"] : ["execute"]).toContain(name);
        expect(Object.keys(one.results)).toEqual(Object.keys(calm.results));
        for (const line of LINES) expect(timesIn(one.log, line)).toBeLessThanOrEqual(1);
        // A file is open only where the edit of it is.
        const texts = name === "execute" ? ["a+\n"] : ["a\n", "a+\n"];
        expect(texts).toContain(one.files["a.txt"]);
        // An answer right after a call whose outcome is unknown completes no item.
        expect(["completed check", "in_progress check"]).toContain(one.plan[1]);
        expect(one).toMatchObject({ files: { "b.txt": "b\n" }, answer: "done" });
        expect(one.plan[0]).toBe("completed build");
      }
    });
  }
});
