import { type Status } from "../../vocabulary.ts";

/** The rules of a plan, and what happens to a change that breaks one. */
export interface Policy {
  /** The statuses that an item can have. */
  statuses: readonly Status[];
  maxItems: number;
  maxInProgress: number;
  /** The most characters of an item's content or note. */
  maxLength: number;
  /** An unknown status: refuse the change, or read it as `pending`. */
  unknownStatus: "refuse" | "pending";
  /** An item without content: refuse the change, or drop the item. */
  emptyContent: "refuse" | "drop";
  /**
   * The ids of items. `stable`: an id belongs to its content and is never given to another item. `sent`: the id exactly
   * as sent, and the position of an item that was sent without one.
   */
  ids: "stable" | "sent";
  /** Two items with one id: refuse the change, or give the second a new id. */
  duplicateIds: "refuse" | "renumber";
  /** A reference to an unknown item: refuse the change, or ignore the reference. */
  unknownIds: "refuse" | "ignore";
  /** A dependency cycle: refuse the change, or drop the dependency that closes the cycle. */
  cycles: "refuse" | "drop";
  /** Starting or completing an item before its dependencies are completed. */
  earlyStart: "refuse" | "allow";
  /** No item in progress although one could be: allow it, refuse the change, or start the next item. */
  idle: "allow" | "refuse" | "start";
  /** Whether a completed item can be reopened, reworded or dropped while its plan is unfinished. */
  completed: "frozen" | "editable";
  /**
   * A clean final answer while the only item left is in progress and was worked on: complete that item, or leave it to
   * the model to report it.
   */
  finalAnswer: "complete" | "leave";
  /** The model's names for the list of items, and an item's content. */
  listField: "todos" | "items";
  contentField: "content" | "text";
  /** Whether other names for fields and statuses (`text`, `done`, `in-progress`) are understood. */
  aliases: boolean;
}

const THREE_STATUSES: readonly Status[] = ["pending", "in_progress", "completed"];

/**
 * The policy of preset `lean`: all rules enforced, several items in progress allowed, the next item started
 * automatically.
 */
export const LEAN_POLICY: Policy = {
  statuses: [...THREE_STATUSES, "blocked", "cancelled"],
  maxItems: 200,
  maxInProgress: 10,
  maxLength: 2000,
  unknownStatus: "refuse",
  emptyContent: "refuse",
  ids: "stable",
  duplicateIds: "refuse",
  unknownIds: "refuse",
  cycles: "refuse",
  earlyStart: "refuse",
  idle: "start",
  completed: "frozen",
  finalAnswer: "complete",
  listField: "todos",
  contentField: "content",
  aliases: true,
};

/** LangChain's policy: any list of well-formed items. */
export const CLASSIC_POLICY: Policy = {
  ...LEAN_POLICY,
  statuses: THREE_STATUSES,
  maxItems: Number.POSITIVE_INFINITY,
  maxInProgress: Number.POSITIVE_INFINITY,
  maxLength: 20_000,
  earlyStart: "allow",
  idle: "allow",
  completed: "editable",
  finalAnswer: "leave",
};

/** The TodoWrite lesson: at most 20 items, one in progress, exact words. */
export const CHECKLIST_POLICY: Policy = {
  ...CLASSIC_POLICY,
  maxItems: 20,
  maxInProgress: 1,
  ids: "sent",
  listField: "items",
  contentField: "text",
  aliases: false,
};
