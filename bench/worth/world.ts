import { ToolMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { z } from "zod";
import type { Job } from "./job.ts";

/** About 50 tokens, as much as the results of the token figures have. */
const DETAILS = [
  "7 calls replaced, 2 imports removed, 1 helper deleted.",
  "Types: no errors. Tests: 31 passed, 0 failed in 1.4 s.",
  "Formatting is unchanged; the time zone of line 48 was kept explicit.",
];

/** What every result of the work says, with so many lines more than usual. */
export function detailsWith(lines: number): string {
  const more = Array.from({ length: lines }, (_, at) => `Line ${at + 1}: a call of the old client is gone.`);
  return [...DETAILS, ...more].join("\n");
}

/** What really happened: the ground truth that only the work tool writes. */
export class World {
  readonly job: Job;
  /** Every work call in order. */
  readonly log: string[] = [];
  readonly #details: string;
  readonly #done = new Set<string>();
  readonly #parts = new Map<string, number>();

  constructor(job: Job, moreLines = 0) {
    this.job = job;
    this.#details = detailsWith(moreLines);
  }

  /** Does a part of a step. Without its dependencies the work goes through and is worth nothing, as so often. */
  work(name: string): string | undefined {
    const step = this.job.steps.find((other) => other.name === name);
    if (!step) return undefined;
    this.log.push(name);
    if (this.#done.has(name)) return `Done again: ${name}. Nothing was left to change, 31 tests passed.`;
    const all = this.job.calls.get(name) ?? 1;
    const part = Math.min((this.#parts.get(name) ?? 0) + 1, all);
    this.#parts.set(name, part);
    if (part < all) return `Part ${part} of ${all} of ${name} is done; call do_step again. ${this.#details}`;
    if (step.after.every((other) => this.#done.has(other))) this.#done.add(name);
    return `Done: ${name}. ${this.#details}`;
  }

  /** Whether a step was worked on after everything it depends on. */
  isTrulyDone(name: string): boolean {
    return this.#done.has(name);
  }

  get isFinished(): boolean {
    return this.job.steps.every(({ name }) => this.#done.has(name));
  }
}

/** Where the tools of an agent find the world of the run they are in. */
export interface Scene {
  world: World;
}

/** The work tool. Its result says no more than a real tool's would. */
export function workTool(scene: Scene) {
  return tool(
    ({ name }, { toolCall }) => {
      const content = `Error: there is no service "${name}".`;
      const tool_call_id = toolCall?.id ?? "";
      return (
        scene.world.work(name) ?? new ToolMessage({ content, status: "error", name: "do_step", tool_call_id })
      );
    },
    {
      name: "do_step",
      description: "Migrates one service and runs its checks.",
      schema: z.object({ name: z.string() }),
    },
  );
}

/** The step that a tool result is about, and whether its work is over. */
export function workIn(result: string): { name: string; isOver: boolean } | undefined {
  const [, part, name] = /^(?:Done(?: again)?: |(Part) \d+ of \d+ of )(\w+)/.exec(result) ?? [];
  return name === undefined ? undefined : { name, isOver: part === undefined };
}
