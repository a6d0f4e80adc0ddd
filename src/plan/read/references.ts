import { contentKey, own, type Todo } from "../todo/index.ts";
import { isRecord, MAX_OPERATIONS, parsed, type Reading } from "./reading.ts";
import { oneLine, readIds } from "./values.ts";

/** A reference to an item, with what was said of it. */
export interface Reference {
  /** Where it stood in what was sent. */
  at: string;
  id: string;
  note?: string;
}

/**
 * Items in whatever form they are named: `2`, `2, 3`, `2-4`, `2: why`, `2: why, 3: why`, `2: <its own words>`, its own
 * words alone, and lists of these or of objects with an id.
 */
export function readReferences(
  raw: unknown,
  at: string,
  { reading, todos }: { reading: Reading; todos: readonly Todo[] },
): Reference[] {
  const plain = (value: unknown): Reference[] => readIds(value, at, reading).map((id) => ({ at, id }));
  // An id that is kept as it was sent may have anything in it: a text is one of them.
  if (reading.policy.ids === "sent") return plain(raw);
  const value = typeof raw === "string" && /^\s*\[/.test(raw) ? parsed(raw, reading, at) : raw;
  if (Array.isArray(value) && value.length <= MAX_OPERATIONS && value.some(hasWords)) {
    return value.flatMap((entry: unknown) => {
      const note = isRecord(entry) ? own(entry, "note") : undefined;
      const named = readReferences(isRecord(entry) ? own(entry, "id") : entry, at, { reading, todos });
      return typeof note === "string" && oneLine(note)
        ? named.map((reference) => ({ ...reference, note: oneLine(note) }))
        : named;
    });
  }
  if (typeof value !== "string" || value.length > MAX_LENGTH) return plain(value);
  const meant = byWords(value, todos);
  if (meant) return [{ at, id: meant.id }];
  return value.split(/[;,\n]\s*(?=#?[\w-]+\s*:)/).flatMap((part) => readPart(part, at, { reading, todos }));
}

/** A longer text names no items. */
const MAX_LENGTH = 20_000;

/** Whether an entry of a list may say more than an id. */
function hasWords(entry: unknown): boolean {
  if (typeof entry === "string") return /\s/.test(entry.trim());
  return isRecord(entry) && typeof own(entry, "note") === "string";
}

/** One reference of a text, or several without a word about them. */
function readPart(
  part: string,
  at: string,
  { reading, todos }: { reading: Reading; todos: readonly Todo[] },
): Reference[] {
  const [, id, words] = /^\s*#?([^\s,:;]+)(?:\s*:\s*|\s+[–-]\s+)(.+)$/s.exec(part) ?? [];
  if (id === undefined || words === undefined)
    return readIds(part, at, reading).map((one) => ({ at, id: one }));
  const todo = todos.find((other) => other.id === id);
  const isOwn = todo && contentKey(todo.content) === contentKey(words);
  return [{ at, id, ...(!isOwn && { note: oneLine(words) }) }];
}

/** The item that says this and nothing else; undefined where none does, or several. */
function byWords(text: string, todos: readonly Todo[]): Todo | undefined {
  const key = contentKey(text);
  if (key === "" || todos.some(({ id }) => id === text.trim())) return undefined;
  const same = todos.filter(({ content }) => contentKey(content) === key);
  return same.length === 1 ? same[0] : undefined;
}
