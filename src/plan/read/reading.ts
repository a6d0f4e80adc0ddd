import { jsonrepair } from "jsonrepair";
import type { Policy, Issue } from "../todo/index.ts";
import { isRepairable } from "./repair.ts";

/** The most refusals and notes in a reply; more help nobody. */
const MAX_SAID = 20;

/** The most operations of one change. */
export const MAX_OPERATIONS = 1000;

/** Collects what is wrong and what was put right while input is read. */
export class Reading {
  readonly policy: Policy;
  readonly #issues: Issue[] = [];
  readonly #notes = new Set<string>();
  /** The number of problems. */
  problems = 0;
  #repairs = 0;
  /** More was sent than is looked at: it was not read to its end. */
  isTooMuch = false;

  constructor(policy: Policy) {
    this.policy = policy;
  }

  get notes(): string[] {
    const more = this.#repairs - MAX_SAID;
    return [...this.#notes, ...(more > 0 ? [`${more} more notes are left out.`] : [])];
  }

  get issues(): Issue[] {
    const more = this.problems - MAX_SAID;
    const message = `${more} more problems are left out.`;
    return [...this.#issues, ...(more > 0 ? [{ rule: "arguments", sent: more, message } as const] : [])];
  }

  note(sentence: string): void {
    if (this.#notes.has(sentence)) return;
    this.#repairs += 1;
    if (this.#repairs <= MAX_SAID) this.#notes.add(sentence);
  }

  issue(issue: Issue): void {
    this.problems += 1;
    if (this.problems <= MAX_SAID) this.#issues.push(issue);
  }

  /** Refuses input of which there is too much, whatever else is in it. */
  tooMuch(issue: Issue): void {
    this.isTooMuch = true;
    this.issue(issue);
  }
}

/** Shows a value that was sent in at most 60 characters. Never throws. */
export function show(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A circular structure or a BigInt: its type is all that can be said.
  }
  text ??= value === undefined ? "nothing" : typeof value;
  return text.length > 60 ? `${text.slice(0, 57).toWellFormed()}...` : text;
}

/** A JSON string is what it says; anything else is itself. */
export function parsed(raw: unknown, reading: Reading, at: string): unknown {
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
