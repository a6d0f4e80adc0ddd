import type { BaseMessage } from "@langchain/core/messages";
import { isClosed, type Change, type Todo } from "../../plan/index.ts";
import { own } from "../../plan/todo/index.ts";
import { isPlanVisible } from "./messages/visibility.ts";
import type { PlanSetup } from "./setup.ts";
import type { MemoryUpdate, PlanState } from "./state.ts";

/** Items are never changed in place: most of a plan is the same objects from one model call to the next. */
const digests = new WeakMap<Todo, string>();

/** The fields of an item that a model sees, besides its status. */
const FIELDS = ["content", "priority", "dependsOn", "estimate", "note", "mustVerify"] as const;

/** The model's knowledge of an item, in a few characters. */
function digest(todo: Todo): string {
  const cached = digests.get(todo);
  if (cached !== undefined) return cached;
  const fields = FIELDS.filter((field) => field !== "mustVerify" || todo.mustVerify);
  const text = `${todo.status} ${hash(JSON.stringify(fields.map((field) => todo[field])))}`;
  digests.set(todo, text);
  return text;
}

/** Behind the digest of an item that a person closed, for as long as nobody changes it. */
const BY_PERSON = " person";

/** The memory of a model that knows the items `after`, where it knew `seen` before. */
export function rememberSeen(seen: Record<string, string>, after: readonly Todo[]): MemoryUpdate {
  const update: Record<string, string | null> = {};
  for (const todo of after) {
    const now = digest(todo);
    const before = own(seen, todo.id);
    if (before !== now && before !== now + BY_PERSON) update[todo.id] = now;
  }
  const present = new Set(after.map((todo) => todo.id));
  for (const id of Object.keys(seen)) if (!present.has(id)) update[id] = null;
  return { seen: update, order: orderOf(after) };
}

/** The memory of a model that is told people's changes: the items that they closed are marked, too. */
export function rememberEdits(seen: Record<string, string>, todos: readonly Todo[]): MemoryUpdate {
  const memory = rememberSeen(seen, todos);
  for (const todo of todos.filter(isClosed)) {
    const before = own(seen, todo.id);
    const now = memory.seen?.[todo.id];
    if (!before || !now) continue;
    if (before.endsWith(BY_PERSON) || !before.startsWith(`${todo.status} `)) {
      memory.seen![todo.id] = now + BY_PERSON;
    }
  }
  return memory;
}

/** The memory of an item whose status the model has set, without knowing people's other changes. */
export function rememberStatus(before: string, now: string): string {
  return `${now.split(" ")[0]} ${before.split(" ")[1]}`;
}

/** Whether a person closed the item and the model knows it. */
export function isClosedByPerson(seen: Record<string, string>, todo: Todo): boolean {
  return isClosed(todo) && (own(seen, todo.id)?.endsWith(BY_PERSON) ?? false);
}

/** Whether the plan as the model knew it had items that were not closed. */
export function knewOpenItems(seen: Record<string, string>): boolean {
  return Object.values(seen).some((item) => !/^(?:completed|cancelled) /.test(item));
}

/** People's changes that a model with these messages has not been told. */
export function unheardEdits(state: PlanState, messages: readonly BaseMessage[], setup: PlanSetup): Change[] {
  const changes = unseenChanges(state);
  // A plan from before this middleware was in use is no news to a model that can see it.
  const isForeign = changes.length > 0 && state.memory.order === "" && isPlanVisible(messages, setup);
  return isForeign ? [] : changes;
}

/** Changes by others since the model last knew the plan. */
function unseenChanges({ todos, memory: { seen, order } }: PlanState): Change[] {
  const present = new Set(todos.map((todo) => todo.id));
  const removed = Object.keys(seen).filter((id) => !present.has(id));
  return [
    ...removed.map((id): Change => ({ type: "todo-remove", id })),
    ...todos.flatMap((todo, index): Change[] => {
      const before = own(seen, todo.id);
      const now = digest(todo);
      if (before === undefined) return [{ type: "todo-add", todo, index }];
      if (before === now) return [];
      const [status, text] = before.split(" ");
      const changes: Change[] = [];
      if (text !== now.split(" ")[1])
        changes.push({ type: "todo-edit", id: todo.id, set: visibleFields(todo) });
      if (status !== todo.status) {
        changes.push({ type: "todo-status", id: todo.id, from: status as Todo["status"], to: todo.status });
      }
      return changes;
    }),
    ...reorder(order, todos),
  ];
}

/** An id may have spaces in it. */
function orderOf(todos: readonly Todo[]): string {
  return todos.map((todo) => todo.id).join("\n");
}

function reorder(order: string, todos: readonly Todo[]): Change[] {
  if (orderOf(todos) === order) return [];
  const ids = todos.map((todo) => todo.id);
  const seenIds = new Set(order.split("\n"));
  const common = new Set(ids.filter((id) => seenIds.has(id)));
  const before = [...seenIds].filter((id) => common.has(id));
  if ([...common].every((id, index) => id === before[index])) return [];
  return [{ type: "plan-reorder", order: ids }];
}

function visibleFields(todo: Todo): Partial<Todo> {
  const fields = FIELDS.map((field) => [field, todo[field]]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Partial<Todo>;
}

/** FNV-1a, 32 bits: enough to notice that a line of text is not the same. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0).toString(36);
}
