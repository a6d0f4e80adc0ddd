import type { BaseMessage } from "@langchain/core/messages";
import { isClosed, type Change, type Todo } from "../../plan/index.ts";
import { own } from "../../plan/todo/index.ts";
import { shortened } from "../text/index.ts";
import { isPlanVisible } from "./messages/visibility.ts";
import type { PlanSetup } from "./setup.ts";
import type { MemoryUpdate, PlanState } from "./state.ts";

/** A cache: items are never changed in place, and most of them are the same objects from one model call to the next. */
const digests = new WeakMap<Todo, string>();

/** The fields of an item that a model sees, besides its status. */
const FIELDS = ["content", "priority", "dependsOn", "estimate", "note", "mustVerify"] as const;

/** The status of an item and a hash of the fields that the model sees. */
function digest(todo: Todo): string {
  const cached = digests.get(todo);
  if (cached !== undefined) return cached;
  const fields = FIELDS.filter((field) => field !== "mustVerify" || todo.mustVerify);
  const text = `${todo.status} ${hash(JSON.stringify(fields.map((field) => todo[field])))}`;
  digests.set(todo, text);
  return text;
}

/** The suffix of the digest of an item that the user closed, until someone changes the item. */
const BY_PERSON = " person";

/** The update of the memory after the model has learned of the items `after`. `seen`: the digests before. */
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

/** The update of the memory after the model has learned of users' edits. Marks the items that they closed. */
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

/**
 * The update of the memory for the user's edit that removes items: their digests get their content, for the news of the
 * edit. Undefined if the model knows none of them.
 */
export function rememberRemoved(
  { todos, memory: { seen } }: PlanState,
  after: readonly Todo[],
): MemoryUpdate | undefined {
  const kept = new Set(after.map(({ id }) => id));
  const removed = todos.flatMap(({ id, content }): [string, string][] => {
    const before = own(seen, id);
    return before === undefined || kept.has(id) ? [] : [[id, `${before}\n${shortened(content)}`]];
  });
  return removed.length > 0 ? { seen: Object.fromEntries(removed) } : undefined;
}

/** The digest of an item whose status the model has set without knowing of users' other changes to it. */
export function rememberStatus(before: string, now: string): string {
  return `${now.split(" ")[0]} ${before.split(/\s/)[1]}`;
}

/** Whether the user closed the item and the model knows it. */
export function isClosedByPerson(seen: Record<string, string>, todo: Todo): boolean {
  return isClosed(todo) && (own(seen, todo.id)?.endsWith(BY_PERSON) ?? false);
}

/** Whether the model knew the plan with items that were not closed. */
export function knewOpenItems(seen: Record<string, string>): boolean {
  return Object.values(seen).some((item) => !/^(?:completed|cancelled) /.test(item));
}

/** Users' changes that a model with these messages does not know of. */
export function unheardEdits(state: PlanState, messages: readonly BaseMessage[], setup: PlanSetup): Change[] {
  const changes = unseenChanges(state);
  // A plan from before this middleware was in use is not news if the model can see it.
  const isForeign = changes.length > 0 && state.memory.order === "" && isPlanVisible(messages, setup);
  return isForeign ? [] : changes;
}

/** Changes by others since the model last knew the plan. */
function unseenChanges({ todos, memory: { seen, order } }: PlanState): Change[] {
  const present = new Set(todos.map((todo) => todo.id));
  const removed = Object.keys(seen).filter((id) => !present.has(id));
  return [
    ...removed.map((id): Change => {
      const [, content] = seen[id]!.split("\n");
      return { type: "todo-remove", id, ...(content !== undefined && { content }) };
    }),
    ...todos.flatMap((todo, index): Change[] => {
      const before = own(seen, todo.id);
      const now = digest(todo);
      if (before === undefined) return [{ type: "todo-add", todo, index }];
      if (before === now) return [];
      const [status, text] = before.split(/\s/);
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

/** The order of the ids, one per line: an id may contain spaces. */
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
