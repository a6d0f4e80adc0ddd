import { contentKey, own, type Todo } from "../todo/index.ts";
import { isRecord, MAX_OPERATIONS, parseIfJson, type Reading } from "./reading.ts";
import { oneLine, readIds } from "./values.ts";

/** A reference to an item, with the remark that came with it. */
export interface Reference {
  /** Its place in the arguments. */
  at: string;
  id: string;
  note?: string;
}

/**
 * Reads references to items in any of these forms: `2`, `2, 3`, `2-4`, `2: why`, `2: why, 3: why`, `2: <its content>`,
 * its content alone, and lists of these or of objects with an id.
 */
export function readReferences(
  raw: unknown,
  at: string,
  { reading, todos }: { reading: Reading; todos: readonly Todo[] },
): Reference[] {
  const idsOnly = (value: unknown): Reference[] => readIds(value, at, reading).map((id) => ({ at, id }));
  // An id that is kept as sent may contain anything: the whole text is one id.
  if (reading.policy.ids === "sent") return idsOnly(raw);
  const value = typeof raw === "string" && /^\s*\[/.test(raw) ? parseIfJson(raw, reading, at) : raw;
  if (Array.isArray(value) && value.length <= MAX_OPERATIONS && value.some(mayHaveNote)) {
    return value.flatMap((entry: unknown) => {
      const note = isRecord(entry) ? own(entry, "note") : undefined;
      const references = readReferences(isRecord(entry) ? own(entry, "id") : entry, at, { reading, todos });
      return typeof note === "string" && oneLine(note)
        ? references.map((reference) => ({ ...reference, note: oneLine(note) }))
        : references;
    });
  }
  if (typeof value !== "string" || value.length > MAX_LENGTH) return idsOnly(value);
  const match = findByContent(value, todos);
  if (match) return [{ at, id: match.id }];
  return value.split(/[;,\n]\s*(?=#?[\w-]+\s*:)/).flatMap((part) => readPart(part, at, { reading, todos }));
}

/** The longest text that can name items. */
const MAX_LENGTH = 20_000;

/** Whether an entry of a list may have a note besides its id. */
function mayHaveNote(entry: unknown): boolean {
  if (typeof entry === "string") return /\s/.test(entry.trim());
  return isRecord(entry) && typeof own(entry, "note") === "string";
}

/** Reads a part of a text: one id with a note, or ids without one. */
function readPart(
  part: string,
  at: string,
  { reading, todos }: { reading: Reading; todos: readonly Todo[] },
): Reference[] {
  const [, id, words] = /^\s*#?([^\s,:;]+)(?:\s*:\s*|\s+[–-]\s+)(.+)$/s.exec(part) ?? [];
  if (id === undefined || words === undefined)
    return readIds(part, at, reading).map((one) => ({ at, id: one }));
  const todo = todos.find((other) => other.id === id);
  const isContent = todo && contentKey(todo.content) === contentKey(words);
  return [{ at, id, ...(!isContent && { note: oneLine(words) }) }];
}

/** The item with this content; undefined if there is none, or more than one. */
function findByContent(text: string, todos: readonly Todo[]): Todo | undefined {
  const key = contentKey(text);
  if (key === "" || todos.some(({ id }) => id === text.trim())) return undefined;
  const same = todos.filter(({ content }) => contentKey(content) === key);
  return same.length === 1 ? same[0] : undefined;
}
