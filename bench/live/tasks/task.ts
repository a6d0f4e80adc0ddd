import { draw, drawBetween } from "../../worth/draw.ts";

/** The kinds of work that the report tells apart. */
export const KINDS = [
  "rename",
  "figures",
  "fix",
  "build",
  "configuration",
  "facts",
  "folders",
  "writing",
] as const;
export type Kind = (typeof KINDS)[number];

/** Files by their path in the working folder, such as `src/cart.js`. */
export type Files = Readonly<Record<string, string>>;

/** What a piece of work leaves: new texts by path, and `undefined` for a file that is gone. */
export type Changes = Readonly<Record<string, string | undefined>>;

/** The working folder after a run. */
export interface Outcome {
  files: Files;
  /** Runs test files in a sandbox, on a copy of the folder with these files put over it. Undefined when they pass. */
  test: (tests: Files) => Promise<string | undefined>;
}

/** A task with its data. */
export interface Assignment {
  prompt: string;
  files: Files;
  /** What is wrong with the outcome, a line each; nothing is wrong with one that is right. */
  check: (outcome: Outcome) => string[] | Promise<string[]>;
  /** The changes that solve it. */
  solution: Changes;
  /** What somebody would leave who forgot or misread one thing. */
  mistake: Changes;
}

/** One task of the set. Its data are drawn from a seed. */
export interface LiveTask {
  id: string;
  kind: Kind;
  assign: (random: Random) => Assignment;
}

/** Draws from a seed: the same calls in the same order give the same values. */
export class Random {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return drawBetween(low, high, this.#seed, this.#count++);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!;
  }

  shuffle<T>(list: readonly T[]): T[] {
    const at = this.#count++;
    const keyed = list.map((item, index) => ({ item, key: draw(this.#seed, at, index) }));
    return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
  }
}

/** The files with the changes made. */
export function changed(files: Files, changes: Changes): Files {
  const entries = Object.entries({ ...files, ...changes });
  return Object.fromEntries(entries.flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])));
}

/** Says of which of these files the text was changed or lost. */
export function touched(
  before: Files,
  after: Files,
  paths: readonly string[] = Object.keys(before),
): string[] {
  return paths.flatMap((path) => {
    if (after[path] === undefined) return [`${path} is gone`];
    return after[path] === before[path] ? [] : [`${path} was changed`];
  });
}

/** Compares a JSON file with what it has to hold; the order of fields does not matter. */
export function jsonIs(files: Files, path: string, wanted: unknown): string[] {
  const text = files[path];
  if (text === undefined) return [`${path} is missing`];
  try {
    const found: unknown = JSON.parse(text);
    if (canonical(found) === canonical(wanted)) return [];
    return [`${path} is ${canonical(found).slice(0, 300)}, not ${canonical(wanted).slice(0, 300)}`];
  } catch {
    return [`${path} is no JSON`];
  }
}

/** JSON text as a person would lay it out. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Lines with a line end each. */
export function lines(...list: readonly string[]): string {
  return `${list.join("\n")}\n`;
}

/** A table of comma-separated values. */
export function csv(head: string, rows: readonly (readonly (string | number)[])[]): string {
  return lines(head, ...rows.map((row) => row.join(",")));
}

/** These changes without those of some files. */
export function without(changes: Changes, paths: readonly string[]): Changes {
  return Object.fromEntries(Object.entries(changes).filter(([path]) => !paths.includes(path)));
}

/** One problem or none as a list. */
export function problemIn(problem: string | undefined): string[] {
  return problem === undefined ? [] : [problem];
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
