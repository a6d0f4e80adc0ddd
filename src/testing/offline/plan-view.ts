import type { Conversation, DoneCall } from "./conversation.ts";

/** An item of the plan as far as the conversation shows it. */
export interface Item {
  id: string;
  content: string;
  status: "pending" | "in_progress" | "completed" | "blocked" | "cancelled";
  after: string[];
  /** The model itself, or a helper it sent, completed it. */
  own: boolean;
}

/** The plan as the model can see it. */
export interface PlanView {
  /** A plan was set since the user's request. */
  written: boolean;
  items: Item[];
  /** Why the plan was refused, if it was. */
  refusal: string | undefined;
  /** Items whose completion was not accepted. */
  unaccepted: Set<string>;
  /** Updates that were refused. */
  refused: number;
}

const STATUSES = {
  " ": "pending",
  ">": "in_progress",
  x: "completed",
  "!": "blocked",
  "-": "cancelled",
} as const;

/** Reads the plan out of what was written, updated, reported and reminded of, in that order. */
export function readPlan({ earlier, calls, reminders }: Conversation): PlanView {
  const view: PlanView = {
    written: false,
    items: [],
    refusal: undefined,
    unaccepted: new Set(),
    refused: 0,
  };
  for (const done of earlier) readCall(view, done);
  Object.assign(view, { written: false, refusal: undefined, unaccepted: new Set(), refused: 0 });
  for (const done of calls) readCall(view, done);
  for (const reminder of reminders) readReminder(view, reminder);
  return view;
}

function readCall(view: PlanView, done: DoneCall): void {
  if (done.name === "write_todos") readWrite(view, done);
  else if (done.name === "update_todos") readUpdate(view, done);
  else if (done.name === "task") readFollowed(view, done.result);
}

/** Whether an item still waits or is worked on. */
export function isOpen({ status }: Item): boolean {
  return status === "pending" || status === "in_progress";
}

function readWrite(view: PlanView, { args, result, failed }: DoneCall): void {
  if (failed) {
    view.refusal ??= result;
    return;
  }
  view.written = true;
  const todos = Array.isArray(args["todos"]) ? (args["todos"] as unknown[]) : [];
  const items = todos.map((todo, index): Item => {
    const { content = todo, after = [] } = (typeof todo === "object" ? todo : {}) as Record<string, unknown>;
    const ids = Array.isArray(after) ? after.map(String) : [];
    return { id: String(index + 1), content: String(content), status: "pending", after: ids, own: false };
  });
  view.items = readSnapshot(result) ?? items;
  readStatus(view, result);
}

function readUpdate(view: PlanView, { args, result, failed }: DoneCall): void {
  if (failed) {
    view.refused += 1;
    for (const [, id] of result.matchAll(/there is no item ([^\s;]+);/g)) remove(view, id!);
    readRefusals(view, result);
    return;
  }
  const ids = (field: string): string[] => {
    const text = args[field];
    return typeof text === "string" ? text.split(/[\s,]+/) : [];
  };
  const reasons = typeof args["block"] === "string" ? args["block"] : "";
  const blocked = reasons.matchAll(/(?:^|; )([^\s:;]+): /g);
  for (const id of ids("done")) set(view, id, { status: "completed", own: true });
  for (const id of ids("cancel")) set(view, id, { status: "cancelled" });
  for (const [, id] of blocked) set(view, id!, { status: "blocked" });
  for (const id of ids("start")) set(view, id, { status: "in_progress" });
  for (const edit of Array.isArray(args["edit"]) ? (args["edit"] as unknown[]) : []) {
    const { id, after } = edit as { id?: unknown; after?: unknown };
    if (Array.isArray(after)) set(view, String(id), { after: after.map(String) });
  }
  replaceWith(view, readSnapshot(result));
  readStatus(view, result);
}

/** The sentence behind a helper's report about the item that it worked on. */
function readFollowed(view: PlanView, result: string): void {
  const sentence = /\[((?:Todo|Item) [^[]+)\]\s*$/.exec(result)?.[1];
  if (sentence === undefined) return;
  const [, completed] = /^Todo (\S+) is completed\./.exec(sentence) ?? [];
  if (completed !== undefined) set(view, completed, { status: "completed", own: true });
  readRefusals(view, sentence);
  readStatus(view, sentence);
}

function readReminder(view: PlanView, text: string): void {
  if (text.includes("these items are still open")) {
    for (const item of readItems(text)) set(view, item.id, { status: item.status });
    return;
  }
  const items = readItems(text);
  if (items.length > 0) replaceWith(view, items);
  const [, changes] = /The user changed your plan: ([^]+?)\.?<\//.exec(text) ?? [];
  if (changes === undefined) return;
  for (const [, id, status] of changes.matchAll(/(?:^|; )(\S+) is now (\w+)/g)) {
    set(view, id!, { status: status as Item["status"], own: false });
  }
  for (const [, id] of changes.matchAll(/(?:^|; )removed (\S+?)(?=;|$)/g)) remove(view, id!);
  for (const [, id, content, status] of changes.matchAll(/(?:^|; )added (\S+) "(.*?)" \((\w+)\)/g)) {
    const added = { id: id!, content: content!, status: status as Item["status"], after: [], own: false };
    if (!view.items.some((item) => item.id === id)) view.items = [...view.items, added];
  }
  for (const [, id, content] of changes.matchAll(/(?:^|; )(\S+) has content ("(?:[^"\\]|\\.)*")/g)) {
    set(view, id!, { content: JSON.parse(content!) as string });
  }
}

function readSnapshot(result: string): Item[] | undefined {
  const [, plan] = /<plan>\n([^]*)\n<\/plan>/.exec(result) ?? [];
  return plan === undefined ? undefined : readItems(plan);
}

function readItems(text: string): Item[] {
  return text.split("\n").flatMap((line): Item | Item[] => {
    const [, mark, id, content] = /^\[([ >x!-])\] (\S+): (.*)$/.exec(line) ?? [];
    if (id === undefined) return [];
    const after = /\((?:[^()]*; )?after ([\w, -]+?)(?:; [^()]*)?\)$/.exec(content!)?.[1]?.split(", ") ?? [];
    return { id, content: content!, status: STATUSES[mark as keyof typeof STATUSES], after, own: false };
  });
}

/** `2/8 done; now 3, 4.` says what is in progress. */
function readStatus(view: PlanView, text: string): void {
  const [, now = ""] = /\d+\/\d+ done(?:; now ([^;.\n]+))?/.exec(text) ?? [];
  for (const id of now.split(", ")) set(view, id, { status: "in_progress" });
}

function readRefusals(view: PlanView, text: string): void {
  for (const [, id] of text.matchAll(/Item (\S+) is not accepted as completed/g)) view.unaccepted.add(id!);
}

/** Takes a list for the plan, and keeps what the model knows of who completed what. */
function replaceWith(view: PlanView, items: Item[] | undefined): void {
  if (!items) return;
  const before = new Map(view.items.map((item) => [item.id, item]));
  view.items = items.map((item) => ({
    ...item,
    own: item.status === "completed" && (before.get(item.id)?.own ?? false),
  }));
}

function set(view: PlanView, id: string, change: Partial<Item>): void {
  view.items = view.items.map((item) => (item.id === id ? { ...item, ...change } : item));
}

function remove(view: PlanView, id: string): void {
  view.items = view.items.filter((item) => item.id !== id);
}
