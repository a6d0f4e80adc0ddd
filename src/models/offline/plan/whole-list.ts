import type { Call, DoneCall } from "../conversation.ts";
import { readDrafts, readEditedSteps } from "./new.ts";
import { isOpen, readSnapshot, type Item } from "./text.ts";
import { readNews, readRefusals, replaceWith, type Dialect, type News, type PlanView } from "./view.ts";

/** How a preset writes its lists. */
interface Form {
  tool: string;
  /** An item as the model sends it. */
  sent: (item: Item) => object;
  /** The arguments with these items. */
  args: (items: object[]) => Record<string, unknown>;
  /** The items that a result shows. */
  shown: (result: string) => Shown[];
  /** How many items may be in progress. */
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

/**
 * A plan that is sent whole with every change. There is no word for what is blocked, so it stays open; what became
 * pointless is left out. What a person did to the items is said beside the call: the list itself does not tell.
 */
function wholeList({ tool, sent, args, shown, atOnce }: Form): Dialect {
  const write = (items: readonly Item[], steps: PlanView["steps"]): Call => {
    const words = items.flatMap((item) => remarks(item, steps.get(item.id)));
    const change = { name: tool, args: args(items.map(sent)) };
    return words.length > 0 ? { ...change, words: words.join("\n") } : change;
  };
  return {
    givesItems: false,
    open: (steps) => {
      const items = steps.map(({ content }, index): Item => {
        const status = index === 0 ? "in_progress" : "pending";
        return { id: String(index + 1), content, status, after: [], own: false };
      });
      return [write(items, new Map())];
    },
    tell: (news, { items, steps, isOverwritten }) => {
      const listed = items
        .filter((item) => !news.cancelled.includes(item))
        .map((item) => ({
          ...item,
          status: statusOf(item, news, atOnce),
          own: item.own || news.completed.includes(item),
        }));
      const isNews =
        listed.length < items.length || listed.some(({ status }, at) => status !== items[at]!.status);
      return isNews || isOverwritten ? [write(listed, steps)] : [];
    },
    read: (view, done, steps) => {
      if (done.name !== tool) return;
      if (done.failed) return readRefused(view, done);
      const isEdited = /^The user edited this plan before approving it\.$/m.test(done.result);
      const said = readRemarks(done.words ?? "");
      view.items = named(shown(done.result), said.steps, view).map((item) => {
        const own = item.status === "completed" && !isEdited && !said.foreign.has(item.content);
        return { ...item, own };
      });
      view.steps = isEdited
        ? readEditedSteps({ items: view.items, drafts: readDrafts(done.args), steps })
        : stepsOf(view.items, said.steps, steps);
      view.written = true;
      const before = JSON.stringify(view.items);
      readNews(view, done.result);
      readRefusals(view, done.result);
      view.isOverwritten = JSON.stringify(view.items) !== before;
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
  readNews(view, result);
  readRefusals(view, result);
  replaceWith(view, readSnapshot(result));
}

/** Items without ids have those that the harness gives them: their old ones, by their words, else the next numbers. */
function named(
  list: readonly Shown[],
  said: ReadonlyMap<string, string>,
  { items, steps }: PlanView,
): Item[] {
  const used = new Set(items.map(({ id }) => id));
  const oldId = (content: string): string | undefined =>
    items.find((item) => item.content === content || (steps.get(item.id) ?? "") === said.get(content))?.id;
  const newId = (from: number): string => {
    let next = from;
    while (used.has(String(next))) next += 1;
    used.add(String(next));
    return String(next);
  };
  return list.map(({ id, content, status }, index) => {
    return { id: id ?? oldId(content) ?? newId(index + 1), content, status, after: [], own: false };
  });
}

/** What the list does not tell of an item: which step it is, and that somebody else completed it. */
function remarks({ content, status, own }: Item, step: string | undefined): string[] {
  const words = JSON.stringify(content);
  return [
    ...(step !== undefined && step !== content ? [`${words} is ${JSON.stringify(step)}.`] : []),
    ...(status === "completed" && !own ? [`${words} is not my work.`] : []),
  ];
}

const REMARK = /^("(?:[^"\\]|\\.)*") is (?:("(?:[^"\\]|\\.)*")|not my work)\.$/gm;

function readRemarks(words: string): { steps: Map<string, string>; foreign: Set<string> } {
  const steps = new Map<string, string>();
  const foreign = new Set<string>();
  for (const [, content, step] of words.matchAll(REMARK)) {
    if (step === undefined) foreign.add(JSON.parse(content!) as string);
    else steps.set(JSON.parse(content!) as string, JSON.parse(step) as string);
  }
  return { steps, foreign };
}

/** Which step each item is: by what was said, else by its words. */
function stepsOf(
  items: readonly Item[],
  said: ReadonlyMap<string, string>,
  steps: readonly string[],
): Map<string, string> {
  return new Map(
    items.flatMap(({ id, content }): [string, string][] => {
      const step = said.get(content) ?? (steps.includes(content) ? content : undefined);
      return step === undefined ? [] : [[id, step]];
    }),
  );
}
