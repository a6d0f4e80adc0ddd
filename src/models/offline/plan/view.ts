import type { Conversation, DoneCall } from "../conversation.ts";
import { addedIds, isOpen, readItems, says, withChange, withEdits, type Item } from "./text.ts";

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

/** Whether the harness takes a clean answer for the completion of the item that is left. */
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
export function stepsById(
  items: readonly Item[],
  done: DoneCall,
  steps: readonly string[],
): Map<string, string> {
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
export function readReminder(view: PlanView, text: string): void {
  const items = readItems(text);
  if (EXIT.test(text)) for (const { id, status } of items) set(view, id, { status });
  else view.items = withEdits(items.length > 0 ? items : view.items, text);
}
