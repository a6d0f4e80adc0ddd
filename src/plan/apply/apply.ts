import { readItems, readUpdate, type Draft, Reading } from "../read/index.ts";
import {
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
  type Status,
  type Todo,
} from "../todo/index.ts";
import { afterPlan, continues, leftOut, withPresentIds } from "./earlier-plan.ts";
import { identify, planOf, spentIds, type Identified } from "./identity.ts";
import { checkTodos, emptyContent, frozen, listIds, unknownId } from "./rules.ts";
import { withhold } from "./withhold.ts";

/** The author of a change. People may reopen, reword and reorder anything; integrity rules hold for all. */
export type Author = "model" | "person";

/** Under which circumstances a change is applied. */
export interface ApplyOptions {
  /** Default `model`. */
  author?: Author;
  /** Ids that this change may not complete: they keep their status, and nothing starts that waits on them. */
  refused?: ReadonlySet<string>;
  /** Ids that this change completes on the model's word alone. */
  unverified?: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Replaces the plan with the items in `raw`, in whatever shape they were sent. Items keep their ids by id or
 * content. Completed items stay where the policy freezes them, and open ones that a model leaves out are cancelled; a
 * finished plan makes way for a new one.
 */
export function applyWrite(plan: Plan, raw: unknown, policy: Policy, options: ApplyOptions = {}): Result {
  const { author = "model" } = options;
  const reading = new Reading(policyFor(author, policy));
  const drafts = readItems(raw, reading);
  if (reading.isTooMuch) return { ok: false, issues: reading.issues };
  const continued = continues(plan, drafts, { reading, isPerson: author === "person" });
  const base = continued ? plan : afterPlan(plan, policy);
  const items = identify(base, withContent(base, drafts, reading), reading);
  const resolve = references(items, base);
  const written = items.map((item) => merged(item, { resolve, reading, author }));
  const ids = new Set(items.map((item) => item.id));
  const kept =
    reading.policy.completed === "frozen"
      ? base.todos.filter((todo) => todo.status === "completed" && !ids.has(todo.id))
      : [];
  const room = policy.maxItems - kept.length - written.length;
  const cancelled = author === "model" ? leftOut(base, ids, policy).slice(0, Math.max(0, room)) : [];
  const gone = new Set(cancelled.map((todo) => todo.id));
  const todos = [...kept, ...written.map((todo) => without(todo, gone)), ...cancelled];
  return settle({ plan, base, todos, reading, isNew: !continued }, options);
}

/** Applies the operations in `raw` (start, done, block, cancel, add, edit, move, order), all or none of them. */
export function applyUpdate(plan: Plan, raw: unknown, policy: Policy, options: ApplyOptions = {}): Result {
  const reading = new Reading(policyFor(options.author ?? "model", policy));
  const update = withPresentIds(readUpdate(raw, reading, plan.todos), plan, reading);
  if (reading.isTooMuch) return { ok: false, issues: reading.issues };
  const work = new Workbench(plan, reading);
  for (const draft of update.edit) work.edit(draft);
  for (const draft of update.add) work.add(draft);
  for (const draft of update.done) work.close(draft, "completed", "done");
  for (const draft of update.cancel) work.close(draft, "cancelled", "cancel");
  for (const draft of update.block) work.close(draft, "blocked", "block");
  for (const { id } of update.start) work.status(id, "in_progress", "start");
  for (const draft of update.move) work.move(draft);
  if (update.order.length > 0) work.order(update.order);
  const base = work.plan;
  return settle({ plan, base, todos: base.todos, reading, isNew: false }, options);
}

function policyFor(author: Author, policy: Policy): Policy {
  if (author === "model") return policy;
  return { ...policy, completed: "editable", earlyStart: "allow", idle: "allow" };
}

/** A change that was read. */
interface Applied {
  plan: Plan;
  base: Plan;
  /** The plan before it is over: all items are new. */
  isNew: boolean;
  todos: readonly Todo[];
  reading: Reading;
}

/** Puts the finishing touches that the policy asks for, checks everything, and says what changed. */
function settle(
  { plan, base, todos, reading, isNew }: Applied,
  { refused = NONE, unverified = NONE }: ApplyOptions,
): Result {
  const { policy } = reading;
  const ids = new Set(todos.map((todo) => todo.id));
  let list = todos.map((todo) => withKnownDependencies(todo, ids, reading));
  if (policy.cycles === "drop") list = withoutCycles(list, reading);
  if (refused.size > 0) list = withhold(list, { before: isNew ? [] : plan.todos, refused, reading });
  if (unverified.size > 0) list = list.map((todo) => (unverified.has(todo.id) ? onItsWord(todo) : todo));
  // What was refused is no fault of the list's: where idleness is one, the next item starts by itself.
  const starts = policy.idle === "start" || (policy.idle === "refuse" && refused.size > 0);
  if (starts && !list.some((todo) => todo.status === "in_progress")) {
    const next = nextStartable(list);
    if (next) list = list.map((todo) => (todo === next ? { ...todo, status: "in_progress" } : todo));
  }
  for (const issue of checkTodos(list, policy, plan.todos)) reading.issue(issue);
  if (reading.issues.length > 0) return { ok: false, issues: reading.issues };
  const changes: Change[] = isNew
    ? [{ type: "plan-reset" }, ...diffTodos([], list)]
    : diffTodos(plan.todos, list);
  return { ok: true, plan: planOf(base, list), changes, notes: reading.notes };
}

/** Drafts that say what is to be done, taking it from the item with the same id where they don't. */
function withContent(plan: Plan, drafts: readonly Draft[], reading: Reading): Draft[] {
  return drafts.flatMap((draft) => {
    if (draft.content) return draft;
    const was = plan.todos.find((todo) => todo.id === draft.id);
    if (was && draft.content === undefined) return { ...draft, content: was.content };
    if (reading.policy.emptyContent === "drop") reading.note(`Dropped ${draft.at}: it has no content.`);
    else reading.issue(emptyContent(draft.at, draft.content, reading.policy));
    return [];
  });
}

/** The item that a written draft becomes. */
function merged(
  { draft, id, was }: Identified,
  { resolve, reading, author }: { resolve: (reference: string) => string; reading: Reading; author: Author },
): Todo {
  if (was?.status === "completed" && reading.policy.completed === "frozen") {
    if (draft.status !== undefined && draft.status !== "completed") {
      reading.issue(frozen(id, "status", draft.status));
    } else if (draft.id !== undefined && draft.content !== was.content) {
      reading.issue(frozen(id, reading.policy.contentField, draft.content));
    }
    return was;
  }
  // What a model leaves out stays as it was; what a person leaves out of an item was taken out.
  const { actuals: spent, ...rest } = was ?? {};
  const actuals = author === "person" ? laterActuals(spent, draft.actuals) : spent;
  const base = { ...(author === "model" && rest), ...(actuals && { actuals }) };
  const todo = withFields(
    { ...base, id, content: draft.content!, status: draft.status ?? statusOf(was, author) },
    draft,
  );
  if (author === "person") setVerification(todo, draft);
  if (todo.status !== "completed") delete todo.unverified;
  if (draft.dependsOn) setDependencies(todo, draft.dependsOn.map(resolve));
  return withoutLeftOpen(todo);
}

/** The status of an item that is sent without one. A model that lists a cancelled item again wants it done. */
function statusOf(was: Todo | undefined, author: Author): Status {
  const isRevived = author === "model" && was?.status === "cancelled";
  return was && !isRevived ? was.status : "pending";
}

/** In a written list, a reference is an id that the list carries, else a position in it, else a known id. */
function references(items: readonly Identified[], plan: Plan): (reference: string) => string {
  const byName = new Map<string, string>();
  const byContent = new Map<string, string>();
  for (const { draft, id } of items.toReversed()) {
    if (draft.id !== undefined) byName.set(draft.id, id);
    byContent.set(draft.content ?? "", id);
  }
  const known = new Set(plan.todos.map((todo) => todo.id));
  return (reference) => {
    const named = byName.get(reference);
    if (named !== undefined) return named;
    const isPosition = byName.size === 0 && /^\d+$/.test(reference);
    const placed = isPosition ? items[Number(reference) - 1] : undefined;
    if (placed) return placed.id;
    return known.has(reference) ? reference : (byContent.get(reference) ?? reference);
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

/** A model can ask for verification; to do without it, and to say that there was none, is for people. */
function setVerification(todo: Todo, { mustVerify, unverified }: Draft): void {
  if (mustVerify === false) delete todo.mustVerify;
  if (unverified) todo.unverified = true;
}

function onItsWord(todo: Todo): Todo {
  return todo.status === "completed" ? { ...todo, unverified: true } : todo;
}

function setDependencies(todo: Todo, ids: readonly string[]): void {
  if (ids.length > 0) todo.dependsOn = [...new Set(ids)];
  else delete todo.dependsOn;
}

/** Leaves out dependencies on items that this change removed, and on unknown ones where the policy says so. */
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
  setDependencies(
    next,
    (todo.dependsOn ?? []).filter((id) => !dependencies.has(id)),
  );
  return next;
}

/** A plan under change: every operation edits a copy and reports what it could not do. */
class Workbench {
  readonly #before: Plan;
  readonly #items: Items;
  readonly #isSpent: (id: string) => boolean;
  readonly #reading: Reading;
  #nextId: number;
  /** New ids of added items, by the ids they were sent with. */
  readonly #renamed = new Map<string, string>();

  constructor(plan: Plan, reading: Reading) {
    this.#before = plan;
    this.#items = new Items(plan.todos);
    this.#isSpent = spentIds(plan, { has: (id) => this.#items.get(id) !== undefined });
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

  add(draft: Draft): void {
    if (!draft.content) {
      if (this.#reading.policy.emptyContent === "refuse") {
        this.#reading.issue(emptyContent(draft.at, draft.content, this.#reading.policy));
      }
      return;
    }
    const free = draft.id !== undefined && !this.#isSpent(draft.id) && !this.#items.get(draft.id);
    const id = free ? draft.id! : this.#freshId();
    if (draft.id !== undefined && !free)
      this.#reading.note(`The id ${draft.id} was taken; the new item is ${id}.`);
    const todo = withFields({ id, content: draft.content, status: draft.status ?? "pending" }, draft);
    if (draft.id !== undefined && !free) this.#renamed.set(draft.id, id);
    setDependencies(
      todo,
      (draft.dependsOn ?? []).map((reference) => this.#renamed.get(reference) ?? reference),
    );
    const before = draft.before === undefined ? undefined : this.#find(draft.before, `${draft.at}.before`);
    this.#items.add(todo, before && { before: before.id });
    this.#nextId = nextNumber(this.#nextId, [todo]);
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

  /** Sets a status at which work ends, with what is said of it. */
  close(draft: Draft, status: Status, field: string): void {
    const { problems } = this.#reading;
    const before = this.#items.get(draft.id!)?.status;
    this.status(draft.id!, status, field);
    const todo = this.#items.get(draft.id!);
    const isNew = todo !== undefined && todo.status !== before;
    if (draft.note && (isNew || status === "blocked") && todo && this.#reading.problems === problems)
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
