import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";
import { anyUpdate } from "../../middleware/state/index.ts";
import type { Job } from "../exchange.ts";

/** A thread's record of a job until its report is in the conversation: enough to continue it in another process. */
export interface Entry {
  job: Job;
  /** The tool call that started it. */
  call: string;
  /** The namespace of its checkpoints. */
  ns: string;
}

/** The jobs in the background, by id. */
export interface Background {
  /** The number of jobs so far, for unique ids. */
  count: number;
  jobs: Readonly<Record<string, Entry>>;
}

/** An update: null removes a job. */
export interface BackgroundUpdate {
  count?: number;
  jobs: Readonly<Record<string, Entry | null>>;
}

const NONE: Background = { count: 0, jobs: {} };

export function readBackground(state: unknown): Background {
  return (state as { _background?: Background } | undefined)?._background ?? NONE;
}

export function backgroundSchema() {
  const field: z.ZodType<Background | undefined, Background | undefined> = z.any().optional();
  return new StateSchema({
    _background: new ReducedValue(field, {
      inputSchema: anyUpdate<BackgroundUpdate>(),
      reducer: mergeUpdate,
    }),
  });
}

function mergeUpdate(
  current: Background | undefined,
  update: BackgroundUpdate | undefined,
): Background | undefined {
  if (!update) return current;
  const { count, jobs } = current ?? NONE;
  const entries = Object.entries({ ...jobs, ...update.jobs });
  return {
    count: Math.max(count, update.count ?? 0),
    jobs: Object.fromEntries(entries.flatMap(([id, entry]) => (entry ? [[id, entry] as const] : []))),
  };
}
