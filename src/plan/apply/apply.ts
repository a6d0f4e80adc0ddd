import { type Status } from "../../vocabulary.ts";
import { readItems, readUpdate, type Draft, Reading } from "../read/index.ts";
import {
  byId,
  laterActuals,
  closingDependencies,
  nextStartable,
  diffTodos,
  isSame,
  Items,
  type Policy,
  nextNumber,
  withoutLeftOpen,
  type Change,
  type Plan,
  type Result,
  type Todo,
} from "../todo/index.ts";
import { cancelOmitted, continuesPlan, emptyPlanAfter, withCurrentIds } from "./earlier-plan.ts";
import {
  identify,
  isReplaced,
  planOf,
  replacedBy,
  replacementOf,
  retiredIdCheck,
  type Identified,
} from "./identity.ts";
import { revertRefused } from "./revert-refused.ts";
import { checkTodos, emptyContent, frozen, isCancelled, listIds, unknownId } from "./rules.ts";

/** The author of a change. Users may reopen, reword and reorder anything; integrity rules hold for everybody. */
export type Author = "model" | "person";

/** The circumstances of a change. */
export interface ApplyOptions {
  /** Default `model`. */
  author?: Author;
  /** Ids that this change may not complete: they keep their status, and items that wait on them do not start. */
  refused?: ReadonlySet<string>;
  /** Ids that this change completes on the model's word alone. */
  unverified?: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Replaces the plan with the items in `raw`, in any shape that `readItems` takes. Items keep their ids by id or
 * content. Completed items stay if the policy freezes them, and open ones that a model leaves out are cancelled. After
 * a finished plan a new one begins.
 *
 * @example
 * ```ts
 * import { applyWrite, EMPTY_PLAN, LEAN_POLICY, renderChecklist } from "holdfast/plan";
 *
 * const result = applyWrite(EMPTY_PLAN, ["Build", "Test"], LEAN_POLICY);
 * console.log(result.ok ? renderChecklist(result.plan.todos) : result.issues);
 * ```
 */
export function applyWrite(plan: Plan, raw: unknown, policy: Policy, options: ApplyOptions = {}): Result {
  const { author = "model" } = options;
  const reading = new Reading(policyFor(author, policy));
  const drafts = readItems(raw, reading);
  if (reading.isTooLarge) return { ok: false, issues: reading.issues };
  const isContinued = continuesPlan(plan, drafts, { reading, isPerson: author === "person" });
  const base = isContinued ? plan : emptyPlanAfter(plan, policy);
  const items = identify(base, withContent(base, drafts, reading), reading);
  const resolve = referenceResolver(items, base);
  const sentTodos = items.map((item) => mergeDraft(item, { resolve, reading, author }));
  const ids = new Set(items.map((item) => item.id));
  const completed =
    reading.policy.completed === "frozen"
      ? base.todos.filter((todo) => todo.status === "completed" && !ids.has(todo.id))
      : [];
  const room = policy.maxItems - completed.length - sentTodos.length;
  const cancelled = author === "model" ? cancelOmitted(base, ids, policy).slice(0, Math.max(0, room)) : [];
  const cancelledIds = new Set(cancelled.map((todo) => todo.id));
  const todos = [...completed, ...sentTodos.map((todo) => without(todo, cancelledIds)), ...cancelled];
  return finishChange({ plan, base, todos, reading, isNew: !isContinued }, options);
}

/**
 * Applies the operations in `raw` (start, done, block, cancel, add, edit, move, order), all or none of them.
 *
 * @example
 * ```ts
 * import { applyUpdate, applyWrite, EMPTY_PLAN, LEAN_POLICY, renderChecklist } from "holdfast/plan";
 *
 * const written = applyWrite(EMPTY_PLAN, ["Build", "Test"], LEAN_POLICY);
 * const result = written.ok ? applyUpdate(written.plan, { done: "1" }, LEAN_POLICY) : written;
 * console.log(result.ok ? renderChecklist(result.plan.todos) : result.issues);
 * ```
 */
export function applyUpdate(plan: Plan, raw: unknown, policy: Policy, options: ApplyOptions = {}): Result {
  const { author = "model" } = options;
  const reading = new Reading(policyFor(author, policy));
  const update = withCurrentIds(readUpdate(raw, reading, plan.todos), plan, reading);
  if (reading.isTooLarge) return { ok: false, issues: reading.issues };
  const editor = new PlanEditor(plan, reading, author);
  for (const draft of update.edit) editor.edit(draft);
  const added = update.add.map((draft) => editor.add(draft));
  for (const draft of update.done) editor.close(draft, "completed", "done");
  // One item cancelled and one added in the same call: the second replaces the first.
  const isSwap = author === "model" && added.length === 1 && update.cancel.length === 1;
  const swap = isSwap && added[0] !== undefined ? { note: replacedBy(added[0]) } : {};
  for (const draft of update.cancel) editor.close({ ...swap, ...draft }, "cancelled", "cancel");
  for (const draft of update.block) editor.close(draft, "blocked", "block");
  for (const { id } of update.start) editor.status(id, "in_progress", "start");
  for (const draft of update.move) editor.move(draft);
  if (update.order.length > 0) editor.order(update.order);
  const base = editor.plan;
  return finishChange({ plan, base, todos: base.todos, reading, isNew: false }, options);
}

function policyFor(author: Author, policy: Policy): Policy {
  if (author === "model") return policy;
  return { ...policy, completed: "editable", earlyStart: "allow", idle: "allow" };
}

/** The list that a change leads to, before checks. */
interface ChangedList {
  plan: Plan;
  base: Plan;
  /** Whether the list begins a new plan: all items are new. */
  isNew: boolean;
  todos: readonly Todo[];
  reading: Reading;
}

/** Adjusts the list as the policy asks, checks it, and returns the result. */
function finishChange(
  { plan, base, todos, reading, isNew }: ChangedList,
  { refused = NONE, unverified = NONE }: ApplyOptions,
): Result {
  const { policy } = reading;
  const ids = new Set(todos.map((todo) => todo.id));
  let list = todos.map((todo) => withKnownDependencies(todo, ids, reading));
  if (policy.cycles === "drop") list = withoutCycles(list, reading);
  if (refused.size > 0) list = revertRefused(list, { before: isNew ? [] : plan.todos, refused, reading });
  if (unverified.size > 0) list = list.map((todo) => (unverified.has(todo.id) ? asUnverified(todo) : todo));
  // Idleness that comes from a refusal is not the list's fault: the next item starts instead of an issue.
  const starts = policy.idle === "start" || (policy.idle === "refuse" && refused.size > 0);
  if (starts && !list.some((todo) => todo.status === "in_progress")) {
    const next = nextStartable(list);
    if (next) list = list.map((todo) => (todo === next ? { ...todo, status: "in_progress" } : todo));
  }
  if (!isNew) list = withoutOldReasons(list, plan.todos);
  for (const issue of checkTodos(list, policy, plan.todos)) reading.issue(issue);
  if (reading.issues.length > 0) return { ok: false, issues: reading.issues };
  const changes: Change[] = isNew
    ? [{ type: "plan-reset" }, ...diffTodos([], list)]
    : diffTodos(plan.todos, list);
  return { ok: true, plan: planOf(base, list), changes, notes: reading.notes };
}

/** The drafts with content, taken from the item with the same id if they have none. */
function withContent(plan: Plan, drafts: readonly Draft[], reading: Reading): Draft[] {
  return drafts.flatMap((draft) => {
    if (draft.content) return draft;
    const existing = plan.todos.find((todo) => todo.id === draft.id);
    if (existing && draft.content === undefined) return { ...draft, content: existing.content };
    if (reading.policy.emptyContent === "drop") reading.note(`Dropped ${draft.at}: it has no content.`);
    else reading.issue(emptyContent(draft.at, draft.content, reading.policy));
    return [];
  });
}

/** The item that a draft of a full write becomes. */
function mergeDraft(
  { draft, id, existing }: Identified,
  { resolve, reading, author }: { resolve: (reference: string) => string; reading: Reading; author: Author },
): Todo {
  if (existing?.status === "completed" && reading.policy.completed === "frozen") {
    if (draft.status !== undefined && draft.status !== "completed") {
      reading.issue(frozen(id, "status", draft.status));
    } else if (draft.id !== undefined && draft.content !== existing.content) {
      reading.issue(frozen(id, reading.policy.contentField, draft.content));
    }
    return existing;
  }
  // A field that a model leaves out stays as it was; one that the user leaves out is removed.
  const { actuals: spent, ...rest } = existing ?? {};
  const actuals = author === "person" ? laterActuals(spent, draft.actuals) : spent;
  const base = { ...(author === "model" && rest), ...(actuals && { actuals }) };
  const todo = withFields(
    { ...base, id, content: draft.content!, status: draft.status ?? statusOf(existing, author) },
    draft,
  );
  if (author === "person") setVerification(todo, draft);
  if (todo.status !== "completed") delete todo.unverified;
  if (draft.dependsOn) setDependencies(todo, draft.dependsOn.map(resolve));
  return withoutLeftOpen(todo);
}

/** The status of an item that is sent without one. A cancelled item that a model lists again is pending. */
function statusOf(existing: Todo | undefined, author: Author): Status {
  const isRevived = author === "model" && existing?.status === "cancelled";
  return existing && !isRevived ? existing.status : "pending";
}

/**
 * Returns how to resolve the references in a full write: to an id in the list, else to a position in it, else to an
 * item of the plan, else to content in the list.
 */
function referenceResolver(items: readonly Identified[], plan: Plan): (reference: string) => string {
  const byName = new Map<string, string>();
  const byContent = new Map<string, string>();
  for (const { draft, id } of items.toReversed()) {
    if (draft.id !== undefined) byName.set(draft.id, id);
    byContent.set(draft.content ?? "", id);
  }
  const planIds = new Set(plan.todos.map((todo) => todo.id));
  return (reference) => {
    const id = byName.get(reference);
    if (id !== undefined) return id;
    const isPosition = byName.size === 0 && /^\d+$/.test(reference);
    const item = isPosition ? items[Number(reference) - 1] : undefined;
    if (item) return item.id;
    return planIds.has(reference) ? reference : (byContent.get(reference) ?? reference);
  };
}

function withFields(todo: Todo, draft: Draft): Todo {
  return {
    ...todo,
    ...(draft.priority && { priority: draft.priority }),
    ...(draft.estimate !== undefined && { estimate: draft.estimate }),
    ...(draft.note !== undefined && { note: draft.note }),
    ...(draft.key !== undefined && { key: draft.key }),
    ...(draft.mustVerify && { mustVerify: true }),
  };
}

/** Applies the fields that only the user may set: no verification needed, and completed without evidence. */
function setVerification(todo: Todo, { mustVerify, unverified }: Draft): void {
  if (mustVerify === false) delete todo.mustVerify;
  if (unverified) todo.unverified = true;
}

function asUnverified(todo: Todo): Todo {
  return todo.status === "completed" ? { ...todo, unverified: true } : todo;
}

/** Removes the reason for a block, and the name of a replacement, from items that are open or completed now. A new note stays. */
function withoutOldReasons(todos: readonly Todo[], before: readonly Todo[]): Todo[] {
  const blocked = byId(before.filter((todo) => todo.status === "blocked" || isReplaced(todo)));
  return todos.map((todo) => {
    const { note, ...rest } = todo;
    const holds = todo.status === "blocked" || todo.status === "cancelled";
    return note === undefined || holds || blocked.get(todo.id)?.note !== note ? todo : rest;
  });
}

function setDependencies(todo: Todo, ids: readonly string[]): void {
  if (ids.length > 0) todo.dependsOn = [...new Set(ids)];
  else delete todo.dependsOn;
}

/** Removes dependencies on unknown items, if the policy says so or the item is completed. */
function withKnownDependencies(todo: Todo, ids: ReadonlySet<string>, reading: Reading): Todo {
  const unknown = todo.dependsOn?.filter((id) => !ids.has(id)) ?? [];
  if (unknown.length === 0) return todo;
  if (reading.policy.unknownIds === "refuse" && todo.status !== "completed") return todo;
  if (todo.status !== "completed")
    reading.note(`Ignored unknown dependencies of ${todo.id}: ${unknown.join(", ")}.`);
  return without(todo, new Set(unknown));
}

function withoutCycles(todos: readonly Todo[], reading: Reading): Todo[] {
  const dropped = new Map<string, Set<string>>();
  for (const { from, to } of closingDependencies(todos)) {
    reading.note(`Dropped the dependency of ${from} on ${to}: it closed a circle.`);
    dropped.set(from, (dropped.get(from) ?? new Set()).add(to));
  }
  return todos.map((todo) => without(todo, dropped.get(todo.id)));
}

function without(todo: Todo, dependencies: ReadonlySet<string> | undefined): Todo {
  if (!dependencies) return todo;
  const next = { ...todo };
  const ids = todo.dependsOn?.filter((id) => !dependencies.has(id)) ?? [];
  setDependencies(next, ids);
  return next;
}

/** Applies the operations of an update to a copy of a plan, and reports those that fail. */
class PlanEditor {
  readonly #isPerson: boolean;
  readonly #before: Plan;
  readonly #items: Items;
  readonly #isRetired: (id: string) => boolean;
  readonly #reading: Reading;
  #nextId: number;
  /** The new ids of added items, by the ids that they were sent with. */
  readonly #newIds = new Map<string, string>();

  constructor(plan: Plan, reading: Reading, author: Author) {
    this.#isPerson = author === "person";
    this.#before = plan;
    this.#items = new Items(plan.todos);
    this.#isRetired = retiredIdCheck(plan, { has: (id) => this.#items.get(id) !== undefined });
    this.#reading = reading;
    this.#nextId = plan.nextId;
  }

  get plan(): Plan {
    return planOf({ ...this.#before, nextId: this.#nextId }, this.#items.list);
  }

  edit(draft: Draft): void {
    const todo = this.#find(draft.id!, "edit");
    if (!todo) return;
    const next = withFields({ ...todo, content: draft.content || todo.content }, draft);
    if (draft.dependsOn) setDependencies(next, draft.dependsOn);
    if (draft.content === "") {
      this.#reading.issue(emptyContent(`item ${todo.id}`, "", this.#reading.policy));
    } else if (!isSame(todo, next) && this.#isFrozen(todo)) {
      this.#reading.issue(frozen(todo.id, "edit", { ...draft, at: undefined }));
      return;
    }
    this.#items.replace(next);
    if (draft.status) this.status(draft.id!, draft.status, "edit");
    if (draft.before !== undefined) this.move(draft);
  }

  /** Returns the new item's id. */
  add(draft: Draft): string | undefined {
    if (!draft.content) {
      if (this.#reading.policy.emptyContent === "refuse") {
        this.#reading.issue(emptyContent(draft.at, draft.content, this.#reading.policy));
      }
      return undefined;
    }
    const isFree = draft.id !== undefined && !this.#isRetired(draft.id) && !this.#items.get(draft.id);
    const id = isFree ? draft.id! : this.#freshId();
    if (draft.id !== undefined && !isFree) {
      this.#reading.note(`The id ${draft.id} was taken; the new item is ${id}.`);
      this.#newIds.set(draft.id, id);
    }
    const todo = withFields({ id, content: draft.content, status: draft.status ?? "pending" }, draft);
    const dependencies = draft.dependsOn?.map((reference) => this.#newIds.get(reference) ?? reference) ?? [];
    setDependencies(todo, dependencies);
    const before = draft.before === undefined ? undefined : this.#find(draft.before, `${draft.at}.before`);
    this.#items.add(todo, before && { before: before.id });
    this.#nextId = nextNumber(this.#nextId, [todo]);
    return id;
  }

  status(id: string, status: Status, field: string): void {
    const { policy } = this.#reading;
    const todo = this.#find(id, field);
    if (!todo) return;
    if (!policy.statuses.includes(status)) {
      const valid = policy.statuses.join(", ");
      const message = `${field}: ${status} is not a status of this plan; use one of ${valid}.`;
      this.#reading.issue({ rule: "status", item: id, field, sent: status, valid, message });
    } else if (todo.status === status) {
      this.#reading.note(`${id} was already ${status}.`);
    } else if (this.#isFrozen(todo)) {
      this.#reading.issue(frozen(id, field, status));
    } else {
      const { unverified: _, ...rest } = todo;
      this.#items.replace(withoutLeftOpen({ ...rest, status }));
    }
  }

  /** Sets a status at which work ends, with the note that came with it. */
  close(draft: Draft, status: Status, field: string): void {
    const { problems } = this.#reading;
    const closing = this.#items.get(draft.id!);
    const before = closing?.status;
    if (closing && before === "cancelled" && status === "completed" && !this.#isPerson) {
      const others = this.#items.list.filter((todo) => todo.status !== "cancelled");
      return this.#reading.issue(isCancelled(closing.id, replacementOf(closing, others)));
    }
    this.status(draft.id!, status, field);
    const todo = this.#items.get(draft.id!);
    const isDue = todo?.status !== before || status === "blocked";
    if (draft.note && isDue && todo && this.#reading.problems === problems)
      this.#items.replace({ ...todo, note: draft.note });
  }

  move(draft: Draft): void {
    const todo = this.#find(draft.id!, "move");
    const before = draft.before === undefined ? undefined : this.#find(draft.before, "move");
    if (!todo || todo === before || (draft.before !== undefined && !before)) return;
    this.#items.remove([todo.id]);
    this.#items.add(todo, before && { before: before.id });
  }

  order(ids: readonly string[]): void {
    for (const id of ids) this.#find(id, "order");
    this.#items.reorder(ids);
  }

  #isFrozen(todo: Todo): boolean {
    return todo.status === "completed" && this.#reading.policy.completed === "frozen";
  }

  #freshId(): string {
    while (this.#items.get(String(this.#nextId))) this.#nextId += 1;
    return String(this.#nextId++);
  }

  #find(id: string, field: string): Todo | undefined {
    const todo = this.#items.get(id);
    if (todo) return todo;
    if (this.#reading.policy.unknownIds === "refuse")
      this.#reading.issue(unknownId(id, field, listIds(this.#items.list)));
    else this.#reading.note(`Ignored the unknown id ${id}.`);
    return undefined;
  }
}
