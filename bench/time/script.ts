import { readdirSync, readFileSync } from "node:fs";
import { tool } from "langchain";
import { z } from "zod";
import { callTool, type Step } from "../../src/testing/scripted-model.ts";
import { itemsOf, withDone, type Planning } from "../task.ts";

/** How long the timed runs are, in work calls. */
export const TURNS = [25, 100, 200, 400] as const;

const ITEMS = 20;

/** Real text: Postgres compresses what it stores, and text that repeats itself to next to nothing. */
const DECISIONS = readdirSync("docs/decisions").map((file) => `docs/decisions/${file}`);
const BOOK = ["README.md", "CHANGELOG.md", ...DECISIONS].map((file) => readFileSync(file, "utf8")).join("\n");

function page(n: number): string {
  const start = (n * 1024) % (BOOK.length - 1024);
  return `result ${n}: ${BOOK.slice(start, start + 1024)}`.slice(0, 1024);
}

/** The tool of the timed runs: no work, and a result of 1 kB. */
export const kilobyteTool = tool(({ n }) => page(n), {
  name: "work",
  description: "Does one step.",
  schema: z.object({ n: z.number() }),
});

/** One work call per turn; an item of the plan is done after every twentieth of the turns. */
export function longScript(turns: number, plan?: Planning): Step[] {
  const items = itemsOf(ITEMS);
  const work = Array.from({ length: turns }, (_, n) => callTool("work", { n }));
  if (!plan) return [...work, "Finished."];
  const { dialect, pace, answerCompletes } = plan;
  const steps = work.flatMap((call, at): Step[] => {
    const done = Math.floor((at * ITEMS) / turns);
    const before = Math.floor(((at - 1) * ITEMS) / turns);
    if (at > 0 && done === before) return [call];
    if (pace === "inline" && at > 0) return [withDone(call, done)];
    const report = at === 0 ? dialect.write(items) : dialect.progress(items, done);
    return pace === "own-turn" ? [report, call] : [[report, call]];
  });
  return [...steps, ...(answerCompletes ? [] : [dialect.progress(items, ITEMS)]), "Finished."];
}
