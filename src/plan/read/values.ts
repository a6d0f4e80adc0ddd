import { FIELDS, own, PRIORITIES, type Actuals, type Issue, type Priority } from "../todo/index.ts";
import { isRecord, MAX_OPERATIONS, parseIfJson, show, type Reading } from "./reading.ts";
import { PRIORITY_WORDS } from "./words.ts";

/** The longest id, status, priority or estimate, including white space. */
const LONGEST_WORD = 200;

/** Ids from a string, a number, a list of either, a JSON list, or a list of objects that have ids. */
export function readIds(raw: unknown, at: string, reading: Reading): string[] {
  // An id that is kept as sent may contain anything: the whole text is one id.
  const isVerbatim = reading.policy.ids === "sent";
  const value =
    typeof raw === "string" && !isVerbatim && /^\s*\[/.test(raw) ? parseIfJson(raw, reading, at) : raw;
  const list = Array.isArray(value)
    ? value
    : typeof value === "string" && !isVerbatim
      ? value.split(/[\s,]+/).filter(Boolean)
      : [value];
  const ids: string[] = [];
  for (const entry of list as unknown[]) {
    const id = readId(isRecord(entry) ? own(entry, "id") : entry, reading);
    if (id === undefined) {
      const message = `${at} must be a list of ids; got ${show(entry)}.`;
      reading.issue({ rule: "known-id", field: at, sent: entry, valid: "ids", message });
      continue;
    }
    for (const one of (!isVerbatim && range(id)) || [id]) ids.push(one);
    if (ids.length > MAX_OPERATIONS) {
      reading.refuseAsTooLarge(tooManyOperations(at));
      break;
    }
  }
  return ids;
}

/** The issue of a change with too many entries. */
export function tooManyOperations(at: string): Issue {
  const valid = `at most ${MAX_OPERATIONS}`;
  const message = `${at} has more than ${MAX_OPERATIONS} entries; send ${valid} in one call.`;
  return { rule: "arguments", field: at, valid, message };
}

export function readId(value: unknown, { policy }: Reading): string | undefined {
  if (typeof value === "string" && value.length > LONGEST_WORD) return undefined;
  if (policy.ids === "sent") {
    return typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined;
  }
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return String(value);
  if (typeof value !== "string") return undefined;
  const id = value
    .trim()
    .replace(/^#+/, "")
    .replaceAll(/[\s,]+/g, "-");
  return id !== "" && id.length <= 64 ? id : undefined;
}

/** The ids of a range such as `2-5`; undefined for any other text. */
function range(id: string): string[] | undefined {
  const [, from, to] = /^([1-9]\d{0,3})-([1-9]\d{0,3})$/.exec(id) ?? [];
  const count = Number(to) - Number(from) + 1;
  if (!(count >= 2 && count <= 1000)) return undefined;
  return Array.from({ length: count }, (_, index) => String(Number(from) + index));
}

export function readPriority(value: unknown, reading: Reading): Priority | undefined {
  const word = wordOf(value);
  const exact = PRIORITIES.find((priority) => priority === word);
  if (exact) return exact;
  const priority = own(PRIORITY_WORDS, word);
  if (priority) reading.note(`Read the priority ${show(value)} as ${priority}.`);
  return priority;
}

export function readMinutes(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? value : undefined;
  if (typeof value !== "string" || value.length > LONGEST_WORD) return undefined;
  const match =
    /^(?:(\d+(?:\.\d+)?) ?h(?:ours?|rs?)?)? ?(?:(\d+(?:\.\d+)?) ?(?:m(?:in(?:ute)?s?)?)?)?$/i.exec(
      value.trim().replaceAll(/\s+/g, " "),
    );
  if (!match || (match[1] === undefined && match[2] === undefined)) return undefined;
  return Number(match[1] ?? 0) * 60 + Number(match[2] ?? 0);
}

export function isActuals(value: unknown): value is Actuals {
  const keys = ["startedAt", ...FIELDS];
  return (
    isRecord(value) &&
    Object.keys(value).length === keys.length &&
    keys.every((key) => Number.isFinite(own(value, key)))
  );
}

/** A text as a single line: content and notes must not break the list. */
export function oneLine(text: string): string {
  return text
    .split(/[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");
}

/** A short text or a number as a trimmed word in lower case; anything else as the empty string. */
export function wordOf(value: unknown): string {
  const isWord = (typeof value === "string" && value.length <= LONGEST_WORD) || typeof value === "number";
  return isWord ? String(value).trim().toLowerCase() : "";
}

const MOST_RULES = 50;
const LONGEST_RULE = 1000;

/** Reads the rules of a plan, one per line, from a text or a list; undefined if none were sent. */
export function readRules(raw: unknown): string[] | undefined {
  if (raw === undefined || raw === null) return undefined;
  const list: unknown[] = typeof raw === "string" ? raw.split("\n") : Array.isArray(raw) ? raw : [];
  const texts = list.flatMap((rule) => (typeof rule === "string" ? rule.split("\n") : []));
  const rules = texts.map((text) =>
    oneLine(text)
      .replace(/^[-*] /, "")
      .slice(0, LONGEST_RULE),
  );
  return [...new Set(rules.filter((text) => text !== ""))].slice(0, MOST_RULES);
}
