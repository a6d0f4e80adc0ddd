import { call, type Call, type DoneCall } from "../conversation.ts";
import { isOpen, readSnapshot, withEdits, type Item } from "./text.ts";
import { stepsById, type Dialect, type News, type PlanView } from "./view.ts";

/** A preset's form of a list. */
interface Form {
  tool: string;
  /** An item as the model sends it. */
  sent: (item: Item) => object;
  /** The arguments with these items. */
  args: (items: object[]) => Record<string, unknown>;
  /** The items that a result shows. */
  shown: (result: string) => Shown[];
  /** The most items in progress. */
  atOnce: number;
}

type Shown = Pick<Item, "content" | "status"> & { id?: string };

/** LangChain's and DeerFlow's: items have no ids, and the result repeats them as JSON. */
export const CLASSIC = wholeList({
  tool: "write_todos",
  sent: ({ content, status }) => ({ content, status }),
  args: (todos) => ({ todos }),
  shown: (result) => JSON.parse(/^Updated todo list to (\[.*\])$/m.exec(result)?.[1] ?? "[]") as Shown[],
  atOnce: Infinity,
});

/** The lesson's: items have ids, and the result is a checklist. */
export const CHECKLIST = wholeList({
  tool: "todo",
  sent: ({ id, content, status }) => ({ id, text: content, status }),
  args: (items) => ({ items }),
  shown: (result) =>
    [...result.matchAll(/^\[([ >x])\] #(.+?): (.*)$/gm)].map(([, mark, id, content]): Shown => {
      const status = mark === "x" ? "completed" : mark === ">" ? "in_progress" : "pending";
      return { id: id!, content: content!, status };
    }),
  atOnce: 1,
});

/** A plan that is sent whole with every change. A blocked item stays open, a cancelled one is left out. */
function wholeList({ tool, sent, args, shown, atOnce }: Form): Dialect {
  const write = (items: readonly Item[]): Call => call(tool, args(items.map(sent)));
  return {
    givesItems: false,
    open: (steps) => {
      const items = steps.map(({ content }, index): Item => {
        return { id: String(index + 1), content, status: index === 0 ? "in_progress" : "pending", after: [] };
      });
      return [write(items)];
    },
    tell: (news, { items, isOverwritten }) => {
      const listed = items
        .filter((item) => !news.cancelled.includes(item))
        .map((item) => ({ ...item, status: statusOf(item, news, atOnce) }));
      const isNews =
        listed.length < items.length || listed.some(({ status }, at) => status !== items[at]!.status);
      return isNews || isOverwritten ? [write(listed)] : [];
    },
    read: (view, done, steps) => {
      if (done.name !== tool) return;
      if (done.failed) return readRefused(view, done);
      const isProposal = done.result.startsWith("The user edited this plan before approving it.");
      const before = isProposal ? approved(done, view.items) : view.items;
      view.items = identified(shown(done.result), before);
      if (!view.written) view.steps = stepsById(view.items, done, steps);
      view.written = true;
      const edited = isProposal ? view.items : withEdits(view.items, done.result);
      view.isOverwritten = JSON.stringify(edited) !== JSON.stringify(view.items);
      view.items = edited;
    },
  };
}

function statusOf(item: Item, { completed, current }: News, atOnce: number): Item["status"] {
  if (completed.includes(item)) return "completed";
  if (current.length === 0 || !isOpen(item)) return item.status;
  return current.slice(0, atOnce).includes(item) ? "in_progress" : "pending";
}

function readRefused(view: PlanView, { result }: DoneCall): void {
  if (!view.written) {
    view.refusal ??= result;
    return;
  }
  view.refused += 1;
  view.items = readSnapshot(result, view.items) ?? withEdits(view.items, result);
}

/** The list of a call as a person edited it before approving it: the result says what they changed. */
function approved({ args, result }: DoneCall, before: readonly Item[]): Item[] {
  const sent = (args["todos"] ?? args["items"] ?? []) as (Shown & { text?: string })[];
  const proposed = sent.map((item) => ({ ...item, content: item.content ?? item.text }));
  return withEdits(identified(proposed, before), result);
}

/**
 * Items with ids: those shown, else as the harness gives them: the old id by the same words or, for an item in other
 * words, by the same position, else the next number.
 */
function identified(list: readonly Shown[], before: readonly Item[]): Item[] {
  const used = new Set([...before, ...list].map(({ id }) => id));
  const newId = (from: number): string => {
    let next = from;
    while (used.has(String(next))) next += 1;
    used.add(String(next));
    return String(next);
  };
  return list.map(({ id: given, content, status }, index) => {
    const same = before.find((item) => item.content === content);
    const old = before[index];
    const isRenamed = old && !list.some((item) => item.content === old.content);
    const id = given ?? (same ?? (isRenamed ? old : undefined))?.id ?? newId(index + 1);
    return { id, content, status, after: [] };
  });
}
