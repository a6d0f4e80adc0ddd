import type { Conversation, DoneCall } from "../conversation.ts";
import { readNewPlan } from "./new.ts";
import { isOpen, readEdits, readItems, readSnapshot, type Edit, type Item } from "./text.ts";

/** The plan as the model can see it. */
export interface PlanView {
  /** A plan was set since the user's request. */
  written: boolean;
  items: Item[];
  /** The steps by the ids that they got when the plan was set: a person may have put them in other words since. */
  steps: ReadonlyMap<string, string>;
  /** Why the plan was refused, if it was. */
  refusal: string | undefined;
  /** Items whose completion was not accepted. */
  unaccepted: Set<string>;
  /** Updates that were refused. */
  refused: number;
}

/**
 * Reads the plan out of what was written, updated, reported and reminded of, in that order. `steps` is what the model
 * proposes: a list that a person edited has taken the place of the one it wrote.
 */
export function readPlan(conversation: Conversation, steps: readonly string[] = []): PlanView {
  const { earlier, answered, calls, reminders } = conversation;
  const view: PlanView = {
    written: false,
    items: [],
    steps: new Map(),
    refusal: undefined,
    unaccepted: new Set(),
    refused: 0,
  };
  for (const done of earlier) readCall(view, done, steps);
  const last = lastOpen(view.items);
  if (answered && last && answerCompletes(conversation)) set(view, last.id, { status: "completed" });
  Object.assign(view, { written: false, refusal: undefined, unaccepted: new Set(), refused: 0 });
  for (const done of calls) readCall(view, done, steps);
  for (const reminder of reminders) readReminder(view, reminder);
  return view;
}

/** Whether the harness takes a clean answer for the completion of the item that is left. */
export function answerCompletes({ system }: Conversation): boolean {
  return /final answer completes the last item/.test(system);
}

/** The item that is worked on, when no other is open. */
export function lastOpen(items: readonly Item[]): Item | undefined {
  const [item, ...others] = items.filter(isOpen);
  return others.length === 0 && item?.status === "in_progress" ? item : undefined;
}

function readCall(view: PlanView, done: DoneCall, steps: readonly string[]): void {
  if (done.name === "write_todos") readWrite(view, done, steps);
  else if (done.name === "update_todos") readUpdate(view, done);
  else if (done.name === "task") readFollowed(view, done.result);
}

function readWrite(view: PlanView, done: DoneCall, steps: readonly string[]): void {
  if (done.failed) {
    view.refusal ??= done.result;
    return;
  }
  view.written = true;
  const { items, byId, isShown } = readNewPlan(done, steps);
  view.items = items;
  view.steps = byId;
  if (!isShown) readStatus(view, done.result);
}

function readUpdate(view: PlanView, { args, result, failed }: DoneCall): void {
  readNews(view, result);
  const items = readSnapshot(result);
  if (failed) {
    view.refused += 1;
    for (const [, id] of result.matchAll(/there is no item ([^\s;]+);/g)) remove(view, id!);
    readRefusals(view, result);
    replaceWith(view, items);
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
  replaceWith(view, items);
  if (!items) readStatus(view, result);
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
  readNews(view, text);
}

function readNews(view: PlanView, text: string): void {
  for (const edit of readEdits(text)) apply(view, edit);
}

function apply(view: PlanView, edit: Edit): void {
  if (edit.type === "status") set(view, edit.id, { status: edit.status, own: false });
  else if (edit.type === "remove") remove(view, edit.id);
  else if (edit.type === "rename") set(view, edit.id, { content: edit.content });
  else if (!view.items.some(({ id }) => id === edit.item.id)) view.items = [...view.items, edit.item];
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
