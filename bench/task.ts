import { tool } from "langchain";
import { z } from "zod";
import { callTool, type ScriptedCall, type Step } from "../src/testing/scripted-model.ts";

/** Sizes of plans, in items. Each item takes one work call. */
export const SIZES = [5, 10, 20, 50, 100] as const;

/** Where the model reports progress: in a turn of its own, in the same turn as its next work call, or in that call. */
export type Pace = "own-turn" | "beside" | "inline";

/** How a model says the two things it has to say about a plan. */
export interface Dialect {
  write: (items: readonly string[]) => ScriptedCall;
  /** `done` items are completed, the next one is in progress. */
  progress: (items: readonly string[], done: number) => ScriptedCall;
}

export const SYSTEM_PROMPT = "You are a careful software engineer. Use the tools; be brief.";
export const REQUEST =
  "Move every service in this repository to the new date library. Check each one and fix what breaks.";
const ANSWER = "Every service now uses the new date library and all checks pass.";

const AREAS = ["billing", "search", "profile", "shipping", "catalog", "reports", "payments", "calendar"];
const JOBS = [
  "Move the % service to the new date library",
  "Replace the date parsing in the % module and fix its tests",
  "Update the % types and the callers that format dates",
  "Check the % migration and remove the old helper",
];

/** The items of a plan: sentences of 8 to 12 words, as models write them. */
export function itemsOf(size: number): string[] {
  return Array.from({ length: size }, (_, at) => {
    const job = JOBS[at % JOBS.length]!;
    return job.replace("%", `${AREAS[at % AREAS.length]} ${Math.floor(at / AREAS.length) + 1}`);
  });
}

/** The tool that does the work; its result has about 55 tokens. */
export const workTool = tool(({ path }) => workResult(path), {
  name: "migrate_file",
  description: "Rewrites the date handling of one file and runs its checks.",
  schema: z.object({ path: z.string(), library: z.string() }),
});

export function workResult(path: string): string {
  const seed = path.length * 7 + Number(/\d+/.exec(path)?.[0] ?? 0);
  return [
    `${path}: ${3 + (seed % 9)} calls replaced, ${seed % 4} imports removed.`,
    `Types: no errors. Tests: ${12 + (seed % 30)} passed, 0 failed in ${(1 + (seed % 17) / 10).toFixed(1)} s.`,
    `Formatting is unchanged; the time zone of line ${20 + seed} was kept explicit.`,
  ].join("\n");
}

/** How a plan is kept: in which words, at which pace, and whether the final answer reports the last item by itself. */
export interface Planning {
  dialect: Dialect;
  pace: Pace;
  answerCompletes?: boolean;
}

/** The script of a run: the work, and around it what the dialect says about the plan at the given pace. */
export function scriptOf(size: number, plan?: Planning): Step[] {
  const turns = plan ? plannedTurns(size, plan) : workCalls(size).map((call) => [call]);
  let calls = 0;
  // Ids that do not depend on the run: every count is repeatable.
  const named = turns.map((turn) => turn.map((call) => ({ ...call, id: `call_${++calls}` })));
  return [...named, ANSWER];
}

function plannedTurns(size: number, { dialect, pace, answerCompletes }: Planning): ScriptedCall[][] {
  const { write, progress } = dialect;
  const items = itemsOf(size);
  const work = workCalls(size);
  if (pace === "own-turn") {
    const reported = (at: number): ScriptedCall[][] =>
      answerCompletes && at === size ? [] : [[progress(items, at)]];
    return [[write(items)], ...work.flatMap((call, at) => [[call], ...reported(at + 1)])];
  }
  if (pace === "inline") {
    return work.map((call, at) => (at === 0 ? [write(items), call] : [withDone(call, at)]));
  }
  const reports = items.map((_, at) => (at === 0 ? write(items) : progress(items, at)));
  const closing = answerCompletes ? [] : [[progress(items, size)]];
  return [...work.map((call, at) => [reports[at]!, call]), ...closing];
}

/** A work call that says that this many items are done. */
export function withDone(call: ScriptedCall, at: number): ScriptedCall {
  return { ...call, args: { ...call.args, todo_done: String(at) } };
}

function workCalls(size: number): ScriptedCall[] {
  return Array.from({ length: size }, (_, at) => {
    const path = `src/services/${AREAS[at % AREAS.length]}-${at + 1}.ts`;
    return callTool("migrate_file", { path, library: "temporal" });
  });
}
