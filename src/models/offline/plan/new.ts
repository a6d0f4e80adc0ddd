import type { DoneCall } from "../conversation.ts";
import { readSnapshot, says, type Item } from "./text.ts";

/** A plan as it was set. */
export interface NewPlan {
  items: Item[];
  /** The steps by the ids that they got. */
  byId: Map<string, string>;
  /** The result showed the items as they are. */
  isShown: boolean;
}

/** Reads an accepted write. `steps` is what the model proposes, whatever a person made of it before it was approved. */
export function readNewPlan(
  { args, result }: Pick<DoneCall, "args" | "result">,
  steps: readonly string[],
): NewPlan {
  const drafts = readDrafts(args);
  const shown = readSnapshot(result);
  const items = shown ?? numbered(drafts, result);
  const isShown = shown !== undefined;
  if (/^The user edited this plan before approving it\.$/m.test(result)) {
    return { items, byId: readEditedSteps({ items, drafts, steps }), isShown };
  }
  // What is completed in a plan that was just written was so in the one before, with the same words.
  const own = items.map((item) => ({ ...item, own: item.status === "completed" }));
  return { items: own, byId: ownSteps(own, drafts), isShown };
}

export interface Draft {
  id: string | undefined;
  content: string;
  after: number[];
}

/** The items of a write as they were sent. */
export function readDrafts(args: Record<string, unknown>): Draft[] {
  const list = args["todos"] ?? args["items"];
  return (Array.isArray(list) ? (list as unknown[]) : []).map((todo) => {
    const fields = (typeof todo === "object" ? todo : { content: todo }) as Record<string, unknown>;
    const { id, after, content = fields["text"] } = fields;
    return {
      id: typeof id === "string" || typeof id === "number" ? String(id) : undefined,
      content: String(content),
      after: Array.isArray(after) ? after.map(Number) : [],
    };
  });
}

/** Ids count from the item that starts: after a plan that a person emptied they go on from where it was. */
function numbered(drafts: readonly Draft[], result: string): Item[] {
  const first = Number(/ done; now (\d+)/.exec(result)?.[1] ?? 1);
  const idAt = (position: number): string => String(first + position - 1);
  return drafts.map(({ content, after }, index) => {
    return { id: idAt(index + 1), content, status: "pending", after: after.map(idAt), own: false };
  });
}

function ownSteps(items: readonly Item[], drafts: readonly Draft[]): Map<string, string> {
  const steps = new Map<string, string>();
  for (const { content } of drafts) {
    const item = items.find((other) => !steps.has(other.id) && says(other, content));
    if (item) steps.set(item.id, content);
  }
  return steps;
}

/** A list that a person edited has the ids of the list that was proposed; what has none is new. */
export function readEditedSteps({
  items,
  drafts,
  steps,
}: {
  items: readonly Item[];
  drafts: readonly Draft[];
  steps: readonly string[];
}): Map<string, string> {
  const same = drafts.find(({ id, content }) => id !== undefined && steps.includes(content));
  const first = same ? Number(same.id) - steps.indexOf(same.content) : 1;
  return new Map(
    drafts.flatMap(({ id }, index): [string, string][] => {
      const step = id === undefined ? undefined : steps[Number(id) - first];
      const item = items[index];
      return item && step !== undefined ? [[item.id, step]] : [];
    }),
  );
}
