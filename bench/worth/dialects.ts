import type { JobStep } from "./job.ts";
import { contentOf } from "./job.ts";
import type { SeenItem } from "./plan-view.ts";

/** A call that the model wants to make. */
export interface WantedCall {
  name: string;
  args: Record<string, unknown>;
}

/** How the model speaks of its plan, which it sees from the tools it is given. */
export interface Dialect {
  write: (items: readonly SeenItem[]) => WantedCall;
  /** Calls that take the plan from what it is to what it should be. */
  report: (before: readonly SeenItem[], after: readonly SeenItem[]) => WantedCall | undefined;
  /** The same said in two calls. */
  split: (before: readonly SeenItem[], after: readonly SeenItem[]) => WantedCall[];
  /** The call as models get it wrong, one of several ways. */
  spoil: (call: WantedCall, way: number) => WantedCall | "broken JSON";
  /** The work call with the report in it, where the tools allow for that; undefined for what needs a call. */
  attach?: (report: WantedCall, work: WantedCall) => WantedCall | undefined;
}

/** What the model is shown of its tools. */
export interface ShownTools {
  names: readonly string[];
  /** Other tools than those of the plan have an argument for what is done. */
  reportsInline: boolean;
}

/** The dialect that goes with these tools; none without a plan. */
export function dialectFor({ names, reportsInline }: ShownTools): Dialect | undefined {
  if (names.includes("update_todos")) return reportsInline ? INLINE : PARTIAL;
  if (names.includes("write_todos")) return wholeList("write_todos", "todos", toTodo);
  if (names.includes("todo")) return wholeList("todo", "items", toChecklistItem);
  return undefined;
}

function wholeList(name: string, field: string, form: (item: SeenItem) => object): Dialect {
  const write = (items: readonly SeenItem[]): WantedCall => ({ name, args: { [field]: items.map(form) } });
  const isSame = (before: readonly SeenItem[], after: readonly SeenItem[]): boolean =>
    before.length === after.length && before.every(({ status }, at) => status === after[at]!.status);
  return {
    write,
    report: (before, after) => (isSame(before, after) ? undefined : write(after)),
    split: (before, after) => {
      const half = after.map((item, at): SeenItem => {
        const was = before[at]?.status ?? "pending";
        return { ...item, status: item.status === "in_progress" ? was : item.status };
      });
      return [write(half), write(after)];
    },
    spoil: (call, way) => spoiledList(call, field, way),
  };
}

const toTodo = ({ name, after, status }: SeenItem): object => ({
  content: contentOf({ name, after }),
  status,
});
const toChecklistItem = ({ id, name, after, status }: SeenItem): object => ({
  id,
  text: contentOf({ name, after }),
  status,
});

/** Holdfast's own: the plan is written once and then changed by id. */
const PARTIAL: Dialect = {
  write: (items) => ({
    name: "write_todos",
    args: {
      todos: items.map((item) => {
        const after = item.after.map((name) => items.findIndex((other) => other.name === name) + 1);
        const content = contentOf(item, "bare");
        return after.length > 0 ? { content, after } : content;
      }),
    },
  }),
  report: (before, after) => {
    const { done, start } = changes(before, after);
    if (done.length === 0 && start === undefined) return undefined;
    return update(done.join(","), start);
  },
  split: (before, after) => {
    const { done, start } = changes(before, after);
    const halves = done.length > 1 ? [done.slice(0, 1), done.slice(1)] : [done];
    const calls = halves.filter((ids) => ids.length > 0).map((ids) => update(ids.join(",")));
    return start === undefined ? calls : [...calls, update("", start)];
  },
  spoil: (call, way) => {
    if (call.name === "write_todos") return spoiledList(call, "todos", way);
    const { done = "", start } = call.args as { done?: string; start?: string };
    const ids = done.split(",").filter(Boolean);
    const spoiled: (Record<string, unknown> | undefined)[] = [
      { todos: JSON.stringify(ids.map((id) => ({ id: Number(id), status: "completed" }))) },
      { completed: ids.map(Number), ...(start !== undefined && { start }) },
      { update: ids.map((id) => ({ todo_id: id, state: "done" })) },
    ];
    const args = spoiled[way % 4];
    return args ? { name: call.name, args } : "broken JSON";
  },
};

/** The same, with what is done said in the work call. */
const INLINE: Dialect = {
  ...PARTIAL,
  spoil: (call, way) => {
    const { done, start } = call.args as { done?: string; start?: string };
    if (done === undefined || start !== undefined) return PARTIAL.spoil(call, way);
    const ids = done.split(",");
    const spoiled = [JSON.stringify(ids), ids.map(Number), ids.map((id) => ({ id, status: "done" }))];
    return way % 4 < 3 ? { name: call.name, args: { done: spoiled[way % 4] } } : "broken JSON";
  },
  attach: ({ name, args }, work) => {
    const isReport = name === "update_todos" && Object.keys(args).join() === "done";
    return isReport ? { ...work, args: { ...work.args, todo_done: args["done"] } } : undefined;
  },
};

function update(done: string, start?: string): WantedCall {
  return { name: "update_todos", args: { ...(done && { done }), ...(start !== undefined && { start }) } };
}

/** What to report: ids that are completed now, and one to start if the harness would not start it by itself. */
function changes(
  before: readonly SeenItem[],
  after: readonly SeenItem[],
): { done: string[]; start?: string } {
  const was = new Map(before.map((item) => [item.id, item.status]));
  const done = after.filter(({ id, status }) => status === "completed" && was.get(id) !== "completed");
  const wanted = after.find(({ status }) => status === "in_progress");
  const started = wanted && was.get(wanted.id) !== "in_progress" && wanted.id !== nextId(after);
  return { done: done.map(({ id }) => id), ...(started && { start: wanted.id }) };
}

/** The item that starts by itself: the first that waits for nothing. */
function nextId(items: readonly SeenItem[]): string | undefined {
  const done = new Set(items.filter(({ status }) => status === "completed").map(({ name }) => name));
  return items.find(({ status, after }) => status !== "completed" && after.every((name) => done.has(name)))
    ?.id;
}

function spoiledList({ name, args }: WantedCall, field: string, way: number): WantedCall | "broken JSON" {
  const list = args[field] as (string | Record<string, unknown>)[];
  const renamed = list.map((item) => {
    if (typeof item === "string") return { title: item };
    const { content, text, ...rest } = item;
    return { ...rest, title: content ?? text };
  });
  const reworded = list.map((item) => {
    if (typeof item === "string") return { content: item, status: "todo" };
    return { ...item, status: item["status"] === "completed" ? "done" : "open" };
  });
  const spoiled: (Record<string, unknown> | undefined)[] = [
    { [field]: JSON.stringify(list) },
    { [field]: reworded },
    { [field]: renamed },
  ];
  const wrong = spoiled[way % 4];
  return wrong ? { name, args: wrong } : "broken JSON";
}

/** The work call. */
export function workOn({ name }: Pick<JobStep, "name">): WantedCall {
  return { name: "do_step", args: { name } };
}
