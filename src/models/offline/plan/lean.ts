import { call, type Call, type Conversation, type DoneCall } from "../conversation.ts";
import { isOpen, readSnapshot, withEdits, type Item, addedIds, readItems, says, withChange } from "./text.ts";

/** The calls that set a plan in the place of these items. Only a finished plan makes way for a new one. */
export function openPlan(steps: readonly Step[], items: readonly Item[]): Call[] {
  const left = items.filter((item) => isOpen(item) || item.status === "blocked");
  const clearing = left.length > 0 ? [call("update_todos", { cancel: ids(left) })] : [];
  return [...clearing, call("write_todos", { todos: steps })];
}

/** The call that tells the news; none where the plan says it already. */
export function tellNews(news: News, view: PlanView): Call[] {
  const args = changes(news, view);
  return Object.keys(args).length > 0 ? [call("update_todos", args)] : [];
}

/** Reads the plan out of calls and reminders, in their order. `steps` are the steps that the model proposes. */
export function readPlan(conversation: Conversation, steps: readonly string[] = []): PlanView {
  const { earlier, answered, calls, reminders } = conversation;
  const since = { written: false, refusal: undefined, refused: 0 };
  const view: PlanView = { ...since, items: [], steps: new Map() };
  for (const done of earlier) readCall(view, done, steps);
  const last = lastOpen(view.items);
  if (answered && last && answerCompletes(conversation)) set(view, last.id, { status: "completed" });
  Object.assign(view, since);
  for (const done of calls) readCall(view, done, steps);
  for (const reminder of reminders) readReminder(view, reminder);
  return view;
}

function readCall(view: PlanView, done: DoneCall, steps: readonly string[]): void {
  if (done.name === "write_todos") readWrite(view, done, steps);
  else if (done.name === "update_todos") readUpdate(view, done);
  else if (done.name === "task") readFollowed(view, done.result);
}

function changes(
  { completed, cancelled, blocked, current: [next], note }: News,
  { items }: PlanView,
): Record<string, unknown> {
  const open = items.filter(isOpen);
  const closing = [...cancelled, ...blocked.map(({ item }) => item)];
  const stuck = items.filter(({ status }) => status === "cancelled" || status === "blocked");
  const lost = [...stuck, ...closing].map(({ id }) => id);
  // An item would wait forever for one that is cancelled or blocked.
  const edit = open
    .filter((item) => !closing.includes(item) && item.after.some((id) => lost.includes(id)))
    .map(({ id, after }) => ({ id, after: after.filter((other) => !lost.includes(other)) }));
  const idle = completed.length === 0 && !open.some(({ status }) => status === "in_progress");
  return {
    ...(completed.length > 0 && { done: ids(completed), ...(note !== undefined && { note }) }),
    ...(idle && next?.status === "pending" && { start: next.id }),
    ...(cancelled.length > 0 && { cancel: ids(cancelled) }),
    ...(blocked.length > 0 && {
      block: blocked.map(({ item, reason }) => `${item.id}: ${plain(reason)}`).join("; "),
    }),
    ...(edit.length > 0 && { edit }),
  };
}

function readWrite(view: PlanView, done: DoneCall, steps: readonly string[]): void {
  if (done.failed) {
    view.refusal ??= done.result;
    return;
  }
  view.written = true;
  const shown = readSnapshot(done.result, view.items);
  view.items = shown ?? numbered(done);
  view.steps = stepsById(view.items, done, steps);
  if (!shown) readStatus(view, done.result);
}

/** Ids count from the item that starts: after a plan that a person emptied they go on from there. */
function numbered({ args, result }: DoneCall): Item[] {
  const first = Number(/ done; now (\d+)/.exec(result)?.[1] ?? 1);
  const todos = (args["todos"] ?? []) as { content: string; after?: number[] }[];
  return todos.map(({ content, after = [] }, index) => ({
    id: String(first + index),
    content,
    status: "pending",
    after: after.map((position) => String(first + position - 1)),
  }));
}

function readUpdate(view: PlanView, { args, result, failed }: DoneCall): void {
  const items = readSnapshot(result, view.items);
  const missing = [...result.matchAll(/there is no item ([^\s;]+);/g)].map(([, id]) => id);
  view.items = withEdits(view.items, result).filter(({ id }) => !missing.includes(id));
  if (failed) {
    view.refused += 1;
    view.items = items ?? view.items;
    return;
  }
  const listed = (field: string): string[] => {
    const text = args[field];
    return typeof text === "string" ? text.split(/[\s,]+/) : [];
  };
  const reasons = typeof args["block"] === "string" ? args["block"] : "";
  const blocked = reasons.matchAll(/(?:^|; )([^\s:;]+): /g);
  for (const id of listed("done")) set(view, id, { status: "completed" });
  for (const id of listed("cancel")) set(view, id, { status: "cancelled" });
  for (const [, id] of blocked) set(view, id!, { status: "blocked" });
  for (const id of listed("start")) set(view, id, { status: "in_progress" });
  for (const edit of Array.isArray(args["edit"]) ? (args["edit"] as unknown[]) : []) {
    const { id, after } = edit as { id?: unknown; after?: unknown };
    if (Array.isArray(after)) set(view, String(id), { after: after.map(String) });
  }
  if (items) view.items = items;
  else readStatus(view, result);
}

/** The sentence about the item in the line in front of a sub-agent's report. */
function readFollowed(view: PlanView, result: string): void {
  const sentence = /^\[(?:Done|In part|Failed)\b.*?\. ((?:Todo|Item) .+)\](?: \w+)?$/m.exec(result)?.[1];
  if (sentence === undefined) return;
  const [, completed] = /^Todo (\S+) is completed\./.exec(sentence) ?? [];
  if (completed !== undefined) set(view, completed, { status: "completed" });
  readStatus(view, sentence);
}

/** `2/8 done; now 3, 4.` says what is in progress. */
function readStatus(view: PlanView, text: string): void {
  const [, now = ""] = /\d+\/\d+ done(?:; now ([^;.\n]+))?/.exec(text) ?? [];
  for (const id of now.split(", ")) set(view, id, { status: "in_progress" });
}

function ids(items: readonly Item[]): string {
  return items.map(({ id }) => id).join(",");
}

/** A reason without what separates reasons. */
function plain(reason: string): string {
  return reason.replaceAll(/[;,:]+\s*/g, " ").trim();
}

/** A step of a plan: what it says, and the positions of those it waits for. */
export interface Step {
  content: string;
  after?: number[];
  /** Minutes. */
  estimate?: number;
}

/** The plan as the model can see it. */
export interface PlanView {
  /** A plan was set since the user's request. */
  written: boolean;
  items: Item[];
  /** The steps by the ids of their items: a person may have put them in other words. */
  steps: ReadonlyMap<string, string>;
  /** Why the plan was refused, if it was. */
  refusal: string | undefined;
  /** Changes that were refused. */
  refused: number;
}

/** Changes that the model reports to its plan. */
export interface News {
  completed: readonly Item[];
  /** Not needed any more. */
  cancelled: readonly Item[];
  blocked: readonly { item: Item; reason: string }[];
  /** Items in progress. */
  current: readonly Item[];
  /** The remark on completed items, where a verifier asks for one. */
  note?: string;
}

/** True when the harness takes a clean answer for the completion of the item that is left. */
export function answerCompletes({ system }: Conversation): boolean {
  return /final answer completes the last item/.test(system);
}

/** The item that is worked on, when no other is open. */
export function lastOpen(items: readonly Item[]): Item | undefined {
  const [item, ...others] = items.filter(isOpen);
  return others.length === 0 && item?.status === "in_progress" ? item : undefined;
}

/**
 * The steps by the ids of a new plan: ids count on from the first step, whatever a person made of the words. Items that
 * a person added while approving it are none.
 */
function stepsById(items: readonly Item[], done: DoneCall, steps: readonly string[]): Map<string, string> {
  const added = addedIds(done.result);
  const proposed = items.filter(({ id }) => !added.includes(id));
  const same = proposed.find((item) => steps.some((step) => says(item, step)));
  const lowest = Math.min(...proposed.map(({ id }) => Number(id)));
  // A later plan of the thread counts on, behind all steps of an earlier one.
  const usual = lowest > steps.length ? lowest : 1;
  const first = same ? Number(same.id) - steps.findIndex((step) => says(same, step)) : usual;
  const pairs = proposed.map(({ id }) => [id, steps[Number(id) - first] ?? ""] as const);
  return new Map(pairs.filter(([, step]) => step !== ""));
}

/** Changes an item of the view. */
export function set(view: PlanView, id: string, change: Partial<Item>): void {
  view.items = withChange(view.items, id, change);
}

/** The reminder of a model that stopped early has the open items only. */
const EXIT = /^(?:Not finished: |Still open:)/;

/** Applies a reminder to the view. */
function readReminder(view: PlanView, text: string): void {
  const items = readItems(text);
  if (EXIT.test(text)) for (const { id, status } of items) set(view, id, { status });
  else view.items = withEdits(items.length > 0 ? items : view.items, text);
}
