import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { STORES } from "../../../test/helpers/postgres/stores.ts";
import { isRelease } from "../../../test/helpers/runner/rounds.ts";

/** The request, condition by condition. */
const WORDS = ["Work through the tickets.", "T03 only after T08.", "Change nothing in tickets/."];
/** Each summary takes some 3 of them away: 20 summaries and more in a release run. */
const TICKETS = isRelease ? 80 : 24;

type Line =
  | { by: "summarizer"; saw: number }
  | { by: "model"; saw: number; missing: string[] }
  | { by: "tool"; n: number };

/** While a summary is waited for, before anything of it is saved, and when it has just been saved. */
const KILLS = [
  "asked 1",
  "answered 2",
  "saved 3",
  "asked 4",
  "answered 4",
  ...(isRelease ? ["saved 10", "asked 20", "answered 20"] : []),
];

const TRIES = STORES.map((store, at) => ({ store, name: store.name, writer: at === 0 ? "own" : "named" }));

it.each(isRelease ? TRIES : TRIES.slice(0, 1))(
  "kill -9 during or after a summary keeps the whole request: $name, model: $writer",
  async ({ store, writer }) => {
    const place = await store.create();
    const folder = mkdtempSync(join(tmpdir(), "holdfast-killed-summary-"));
    const journal = join(folder, "journal");
    onTestFinished(() => {
      place.remove();
      rmSync(folder, { recursive: true, force: true });
    });
    const job = { opening: place.opening, journal, words: WORDS, tickets: TICKETS, writer };
    const start = (hangs?: string) =>
      spawn(
        process.execPath,
        [join(import.meta.dirname, "killed-summary.mjs"), JSON.stringify({ ...job, hangs })],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
    const lines = (): Line[] =>
      existsSync(journal)
        ? readFileSync(journal, "utf8")
            .split("\n")
            .filter(Boolean)
            .map((line) => JSON.parse(line) as Line)
        : [];

    for (const hangs of KILLS) {
      const child = start(hangs);
      const before = lines().length;
      while (!isThere(hangs, lines().slice(before))) {
        expect(child.exitCode, hangs).toBeNull();
        await sleep(20);
      }
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const messages = JSON.parse(await text(start().stdout)) as [string, string][];

    const all = lines();
    expect(all.filter((line) => line.by === "model" && line.missing.length > 0)).toEqual([]);
    // Whoever writes a summary sees the last one that was saved, and a model never goes back behind one.
    const saw = all.flatMap((line) => (line.by === "summarizer" ? [line.saw] : []));
    expect(saw.slice(0, 7)).toEqual([0, 0, 1, 1, 2, 3, 3]);
    expect(saw.every((number, at) => at === 0 || number - saw[at - 1]! <= 1)).toBe(true);
    const seen = all.flatMap((line) => (line.by === "model" ? [line.saw] : []));
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBeGreaterThan(isRelease ? 20 : 4);
    // The thread has each ticket once, and the request at its beginning.
    expect(messages[0]).toEqual(["human", WORDS.join(" ").slice(0, 40)]);
    const tickets = messages.flatMap(([type, said]) =>
      type === "tool" ? [Number(/^ticket (\d+)/.exec(said)![1])] : [],
    );
    expect(tickets).toEqual(Array.from({ length: TICKETS }, (_, at) => at + 1));
    expect(messages.at(-1)).toEqual(["ai", "All done."]);
  },
);

/** Whether a process has come to where it waits to be killed. */
function isThere(hangs: string, lines: readonly Line[]): boolean {
  const [word, number] = hangs.split(" ");
  const last = lines.at(-1);
  if (word === "asked") return last?.by === "summarizer" && last.saw === Number(number) - 1;
  if (word === "answered") return last?.by === "model" && last.saw === Number(number);
  const call = lines.findLast((line) => line.by === "model");
  return last?.by === "tool" && call?.saw === Number(number);
}
