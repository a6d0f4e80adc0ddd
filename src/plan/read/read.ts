import { type Status } from "../../vocabulary.ts";
import { own, PRIORITIES, type Actuals, type Issue, type Priority, type Todo } from "../todo/index.ts";
import { isRecord, MAX_OPERATIONS, parseIfJson, show, type Reading } from "./reading.ts";
import { readReferences, type Reference } from "./references.ts";
import {
  isActuals,
  oneLine,
  readId,
  readIds,
  readMinutes,
  readPriority,
  tooManyOperations,
  wordOf,
} from "./values.ts";
import { FIELD_WORDS, OPERATION_WORDS, STATUS_WORDS } from "./words.ts";

/** An item as it was sent, after repair. */
export interface Draft {
  /** Its place in the arguments, such as `todos[2]`. */
  at: string;
  id?: string;
  content?: string;
  status?: Status;
  priority?: Priority;
  dependsOn?: string[];
  estimate?: number;
  note?: string;
  key?: string;
  /** False removes the mark, which only the user may do. */
  mustVerify?: boolean;
  unverified?: true;
  actuals?: Actuals;
  /** The id of the item to place this one before. */
  before?: string;
}

/** A requested update. */
export interface UpdateDraft {
  start: Reference[];
  done: Reference[];
  cancel: Reference[];
  block: Draft[];
  add: Draft[];
  edit: Draft[];
  move: Draft[];
  order: string[];
}

/** Reads the items of a full write by a model or the user. Tolerates other shapes than a list of items. */
export function readItems(raw: unknown, reading: Reading): Draft[] {
  const at = reading.policy.listField;
  const value = parseIfJson(raw, reading, at);
  if (Array.isArray(value)) {
    const { maxItems } = reading.policy;
    if (value.length > maxItems) {
      reading.refuseAsTooLarge(tooManyItems(value.length, maxItems));
      return [];
    }
    return value.flatMap((item, index) => readItem(item, `${at}[${index}]`, reading) ?? []);
  }
  if (isRecord(value)) {
    const list = own(value, "todos") ?? own(value, "items");
    if (list !== undefined) return readItems(list, reading);
    if (Object.keys(value).some((key) => fieldName(key, reading) === "content")) {
      reading.note(`Took the single object in ${at} as a list of one.`);
      return [readItem(value, `${at}[0]`, reading)].flatMap((draft) => draft ?? []);
    }
  }
  const message = `${at} must be a list of items; got ${show(raw)}.`;
  reading.issue({ rule: "arguments", field: at, sent: raw, valid: "a list of items", message });
  return [];
}

/** Reads an update by a model or the user. */
export function readUpdate(raw: unknown, reading: Reading, todos: readonly Todo[]): UpdateDraft {
  const update: UpdateDraft = {
    start: [],
    done: [],
    cancel: [],
    block: [],
    add: [],
    edit: [],
    move: [],
    order: [],
  };
  const value = parseIfJson(raw, reading, "arguments");
  if (Array.isArray(value)) {
    update.edit = readDrafts(value, "edit", reading, todos);
    return update;
  }
  if (!isRecord(value)) {
    const message = `The arguments must be an object such as {"done":["1"]}; got ${show(raw)}.`;
    reading.issue({ rule: "arguments", sent: raw, valid: "an object", message });
    return update;
  }
  if ("id" in value) {
    update.edit = readDrafts([value], "edit", reading, todos);
    return update;
  }
  const fields = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  const note = takeNote(fields);
  dropStatus(fields, reading);
  for (const [key, part] of fields) {
    const name = own(OPERATION_WORDS, key);
    if (name === undefined) {
      // `move` is not offered: `before` in an edit does the same.
      const { move: _, ...offered } = update;
      const valid = Object.keys(offered).join(", ");
      const message = `"${key}" is not an operation; use ${valid}.`;
      reading.issue({ rule: "arguments", field: key, sent: part, valid, message });
    } else if (name === "order") {
      update.order = [...update.order, ...readIds(part, key, reading)];
    } else if (name === "start" || name === "done" || name === "cancel") {
      update[name] = [...update[name], ...readReferences(part, key, { reading, todos })];
    } else {
      const operation = name as "block" | "add" | "edit" | "move";
      update[operation] = [...update[operation], ...readDrafts(part, operation, reading, todos)];
    }
  }
  if (note === undefined) return update;
  const withNote = <Of extends Draft>(drafts: Of[]): Of[] => drafts.map((draft) => ({ note, ...draft }));
  const { done, cancel, block } = update;
  return { ...update, done: withNote(done), cancel: withNote(cancel), block: withNote(block) };
}

type Fields = [key: string, value: unknown][];

/** Takes the note out of the fields of an update: it applies to the items that the update closes or blocks. */
function takeNote(fields: Fields): string | undefined {
  const at = fields.findIndex(([key]) => own(FIELD_WORDS, key) === "note");
  if (at < 0 || fields.length === 1) return undefined;
  const [[, value]] = fields.splice(at, 1) as [Fields[number]];
  return typeof value === "string" && oneLine(value) ? oneLine(value) : undefined;
}

/** Removes a status that only repeats an operation of the update. */
function dropStatus(fields: Fields, reading: Reading): void {
  const at = fields.findIndex(([key]) => own(FIELD_WORDS, key) === "status");
  if (at < 0) return;
  const word = wordOf(fields[at]![1]).replaceAll(/[\s-]+/g, "_");
  const status = own(STATUS_WORDS, word) ?? word;
  if (!fields.some(([key]) => own(STATUS_OF, own(OPERATION_WORDS, key) ?? "") === status)) return;
  fields.splice(at, 1);
  reading.note("Ignored the status: the operation says it.");
}

/** The status that each operation sets. */
const STATUS_OF: Readonly<Record<string, Status>> = {
  start: "in_progress",
  done: "completed",
  block: "blocked",
  cancel: "cancelled",
};

function readDrafts(
  raw: unknown,
  at: "block" | "add" | "edit" | "move",
  reading: Reading,
  todos: readonly Todo[],
): Draft[] {
  const value = parseIfJson(raw, reading, at);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > MAX_OPERATIONS) {
    reading.refuseAsTooLarge(tooManyOperations(at));
    return [];
  }
  return list.flatMap((item, index): Draft | Draft[] => {
    const where = `${at}[${index}]`;
    if (at === "block" && typeof item === "string") return readReferences(item, where, { reading, todos });
    if (at !== "add" && (typeof item === "string" || typeof item === "number")) {
      return readIds(item, where, reading).map((id) => ({ at: where, id }));
    }
    const draft = readItem(item, where, reading);
    if (draft && at !== "add" && draft.id === undefined) {
      const message = `${where} has no id.`;
      reading.issue({ rule: "known-id", item: where, field: "id", sent: item, valid: "an id", message });
      return [];
    }
    return draft ?? [];
  });
}

function readItem(raw: unknown, at: string, reading: Reading): Draft | undefined {
  const value = typeof raw === "string" && !/^\s*\{/.test(raw) ? raw : parseIfJson(raw, reading, at);
  if (typeof value === "string") {
    const draft: Draft = { at };
    readField(draft, reading.policy.contentField, value, reading);
    return draft;
  }
  if (!isRecord(value)) {
    const valid = `an object with ${reading.policy.contentField}`;
    const message = `${at} must be ${valid}; got ${show(raw)}.`;
    reading.issue({ rule: "arguments", item: at, sent: raw, valid, message });
    return undefined;
  }
  const draft: Draft = { at };
  // The id first: issues of the other fields name the item by it.
  const fields = Object.entries(value).toSorted(([a], [b]) => Number(b === "id") - Number(a === "id"));
  for (const [key, part] of fields) {
    if (part !== null && part !== undefined) readField(draft, key, part, reading);
  }
  return draft;
}

function readField(draft: Draft, key: string, value: unknown, reading: Reading): void {
  const name = fieldName(key, reading);
  const refuse = (valid: string, rule: Issue["rule"] = "field", problem = `is ${show(value)}`): void => {
    const message = `${draft.at}.${key} ${problem}; use ${valid}.`;
    reading.issue({ rule, item: draft.id ?? draft.at, field: key, sent: value, valid, message });
  };
  const { maxLength } = reading.policy;
  const tooLong = (): void =>
    refuse(`at most ${maxLength} characters`, "field", `has ${String(value).length} characters`);
  switch (name) {
    case "id":
    case "before": {
      const id = readId(value, reading);
      if (id !== undefined) draft[name] = id;
      else if (value !== "" || reading.policy.ids === "stable") refuse("a short string", "known-id");
      return;
    }
    case "content":
      if (typeof value !== "string") return refuse("a non-empty string", "content");
      if (value.length > maxLength) return tooLong();
      if (key !== reading.policy.contentField)
        reading.note(`Read "${key}" as ${reading.policy.contentField}.`);
      draft.content ??= oneLine(value);
      return;
    case "note":
      if (typeof value !== "string") return refuse("a string");
      if (value.length > maxLength) return tooLong();
      if (oneLine(value)) draft.note = oneLine(value);
      return;
    case "status":
      return readStatus(draft, value, reading);
    case "priority": {
      const priority = readPriority(value, reading);
      if (priority) draft.priority = priority;
      else refuse(PRIORITIES.join(", "));
      return;
    }
    case "estimate": {
      const minutes = readMinutes(value);
      if (minutes === undefined) refuse("minutes as a number");
      else draft.estimate = minutes;
      return;
    }
    case "dependsOn":
      draft.dependsOn = readIds(value, `${draft.at}.${key}`, reading);
      return;
    case "key":
      if (typeof value !== "string" || value.length > maxLength) return refuse("a short string");
      if (oneLine(value)) draft.key = oneLine(value);
      return;
    case "mustVerify":
      if (typeof value !== "boolean") return refuse("true or false");
      draft.mustVerify = value;
      return;
    case "unverified":
      if (value === true) draft.unverified = true;
      return;
    case "actuals":
      if (isActuals(value)) draft.actuals = value;
      return;
    default:
      if ((key === "done" || key === "completed") && typeof value === "boolean") {
        reading.note(`Read ${key}: ${value} as a status.`);
        draft.status ??= value ? "completed" : "pending";
      } else {
        reading.note(`Ignored the unknown field "${key}".`);
      }
  }
}

function readStatus(draft: Draft, value: unknown, reading: Reading): void {
  const { statuses, aliases, unknownStatus } = reading.policy;
  const exact = wordOf(value);
  const word = exact.replaceAll(/[\s-]+/g, "_");
  const status = (aliases ? (own(STATUS_WORDS, word) ?? word) : exact) as Status;
  if (statuses.includes(status)) {
    if (status !== exact) reading.note(`Interpreted the status ${show(value)} as ${status}.`);
    draft.status = status;
    return;
  }
  if (unknownStatus === "pending") {
    reading.note(`Read the unknown status ${show(value)} as pending.`);
    draft.status = "pending";
    return;
  }
  const valid = statuses.join(", ");
  const message = `Item ${draft.id ?? position(draft.at)}: invalid status ${show(value)}; use one of ${valid}.`;
  const item = draft.id ?? draft.at;
  reading.issue({ rule: "status", item, field: "status", sent: value, valid, message });
}

/** The name of an item without an id: its position in the list, from 1. */
function position(at: string): string {
  const [, index] = /^(?:todos|items)\[(\d+)\]$/.exec(at) ?? [];
  return index === undefined ? at : String(Number(index) + 1);
}

function fieldName(key: string, reading: Reading): string | undefined {
  const name = own(FIELD_WORDS, key);
  const ownName = name === "content" ? reading.policy.contentField : name;
  return reading.policy.aliases || key === ownName || key === name ? name : undefined;
}

export function tooManyItems(count: number, maxItems: number): Issue {
  const message = `Max ${maxItems} todos allowed; this would make ${count}. Merge or drop some.`;
  return { rule: "max-items", field: "todos", sent: count, valid: `at most ${maxItems} items`, message };
}
