import { z } from "zod";
import { checked, toJson } from "../http/answers.ts";

/** `values.messages[-1].content`: names, and places in lists, from their end where they are negative. */
const PATH = /^[^.[\]]+(?:\.[^.[\]]+|\[-?\d+\])*$/;
const MOST = 10;
const EXTRACT = z.looseObject({
  extract: z
    .record(z.string(), z.string().regex(PATH, "write a path as values.messages[-1].content"))
    .refine((paths) => Object.keys(paths).length <= MOST, `there are at most ${MOST} paths`)
    .nullish(),
});

/** Parts of a thread that a client wants under names of its own: each a path, step by step. */
export type Extract = ReadonlyMap<string, readonly string[]>;

/** Answers 422 for what is no path. */
export function extractOf(given: Record<string, unknown>): Extract {
  const { extract } = checked(EXTRACT, given);
  return new Map(Object.entries(extract ?? {}).map(([name, path]) => [name, path.match(/[^.[\]]+/g)!]));
}

/** Whether one of the paths begins with a field. */
export function isWithin(field: string, extract: Extract): boolean {
  return [...extract.values()].some(([first]) => first === field);
}

/** The parts of a thread, as they are in its JSON; null for what it has not. */
export function extracted(thread: object, extract: Extract): { extracted?: Record<string, unknown> } {
  if (extract.size === 0) return {};
  const plain: unknown = JSON.parse(toJson(thread));
  const parts = [...extract].map(([name, path]) => [name, path.reduce(partOf, plain) ?? null] as const);
  return { extracted: Object.fromEntries(parts) };
}

function partOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(step) ? (value.at(Number(step)) as unknown) : undefined;
  const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, step);
  return isThere ? (value as Record<string, unknown>)[step] : undefined;
}
