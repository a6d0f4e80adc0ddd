import { jsonrepair } from "jsonrepair";
import type { Policy, Issue } from "../todo/index.ts";
import { isRepairable } from "./repair.ts";

/** The most issues, and the most notes, in a reply. */
const MAX_MESSAGES = 20;

/** The most operations of one change. */
export const MAX_OPERATIONS = 1000;

/** Collects issues and repairs while input is read. */
export class Reading {
  readonly policy: Policy;
  readonly #issues: Issue[] = [];
  readonly #notes = new Set<string>();
  /** The number of issues, including those left out of `issues`. */
  problems = 0;
  #repairs = 0;
  /** Whether the input is too large and was not read to its end. */
  isTooLarge = false;

  constructor(policy: Policy) {
    this.policy = policy;
  }

  get notes(): string[] {
    const more = this.#repairs - MAX_MESSAGES;
    return [...this.#notes, ...(more > 0 ? [`${more} more notes are left out.`] : [])];
  }

  get issues(): Issue[] {
    const more = this.problems - MAX_MESSAGES;
    const message = `${more} more problems are left out.`;
    return [...this.#issues, ...(more > 0 ? [{ rule: "arguments", sent: more, message } as const] : [])];
  }

  note(sentence: string): void {
    if (this.#notes.has(sentence)) return;
    this.#repairs += 1;
    if (this.#repairs <= MAX_MESSAGES) this.#notes.add(sentence);
  }

  issue(issue: Issue): void {
    this.problems += 1;
    if (this.problems <= MAX_MESSAGES) this.#issues.push(issue);
  }

  /** Refuses input that is too large, whatever else is in it. */
  refuseAsTooLarge(issue: Issue): void {
    this.isTooLarge = true;
    this.issue(issue);
  }
}

/** A value as JSON of at most 60 characters, for messages. Never throws. */
export function show(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A circular structure or a BigInt: the type has to do.
  }
  text ??= value === undefined ? "nothing" : typeof value;
  return text.length > 60 ? `${text.slice(0, 57).toWellFormed()}...` : text;
}

/** Parses a string with a JSON object or list in it, repairing it if needed. Returns anything else as it is. */
export function parseIfJson(raw: unknown, reading: Reading, at: string): unknown {
  if (typeof raw !== "string" || !/^\s*[[{]/.test(raw)) return raw;
  try {
    const value: unknown = JSON.parse(raw);
    reading.note(`Read the JSON string in ${at} as a value.`);
    return value;
  } catch {
    if (!isRepairable(raw)) return raw;
    try {
      const value: unknown = JSON.parse(jsonrepair(raw));
      reading.note(`Repaired the broken JSON string in ${at}.`);
      return value;
    } catch {
      return raw;
    }
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
