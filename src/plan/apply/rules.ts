import { tooManyItems } from "../read/index.ts";
import {
  byId,
  findCycle,
  nextStartable,
  unmetDependencies,
  type Policy,
  type Issue,
  type Todo,
} from "../todo/index.ts";

/**
 * Checks a list against a policy and returns all issues. Dependencies are also checked for items that were completed
 * since `before`.
 */
export function checkTodos(todos: readonly Todo[], policy: Policy, before: readonly Todo[] = todos): Issue[] {
  return [
    ...checkItems(todos, policy),
    ...checkLimits(todos, policy),
    ...checkDependencies(todos, policy, before),
    ...checkIdle(todos, policy),
  ];
}

/** The ids of a list for an error message: `1-4, 7`. */
export function listIds(todos: readonly Todo[]): string {
  const runs: string[][] = [];
  for (const { id } of todos) {
    const run = runs.at(-1);
    if (run && Number(run.at(-1)) + 1 === Number(id)) run.push(id);
    else runs.push([id]);
  }
  const names = runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join(", ")));
  return names.join(", ") || "none";
}

/** The issue of a reference to an unknown item. */
export function unknownId(id: string, field: string, valid: string): Issue {
  const message = `${field}: there is no item ${id}; known ids: ${valid}.`;
  return { rule: "known-id", item: id, field, sent: id, valid, message };
}

function checkItems(todos: readonly Todo[], policy: Policy): Issue[] {
  const issues: Issue[] = [];
  const ids = new Set<string>();
  for (const { id, content, status } of todos) {
    if (ids.has(id)) issues.push(duplicateId(id, id));
    ids.add(id);
    if (content.trim() === "") issues.push(emptyContent(id, content, policy));
    if (!policy.statuses.includes(status)) {
      const valid = policy.statuses.join(", ");
      const message = `Item ${id}: invalid status "${status}"; use one of ${valid}.`;
      issues.push({ rule: "status", item: id, field: "status", sent: status, valid, message });
    }
  }
  return issues;
}

export function duplicateId(id: string, item: string): Issue {
  const message = `${item}: the id ${id} is used twice; give each item its own.`;
  return { rule: "unique-id", item, field: "id", sent: id, valid: "an id of its own", message };
}

export function emptyContent(item: string, sent: unknown, policy: Policy): Issue {
  const field = policy.contentField;
  const message = `${item} has no ${field}; say in a few words what is to be done.`;
  return { rule: "content", item, field, sent, valid: "a non-empty string", message };
}

/** The issue of a change to a completed item. */
export function frozen(id: string, field: string, sent: unknown): Issue {
  const message = `Item ${id} is completed and cannot be changed (${field}); add a new item instead.`;
  return { rule: "frozen", item: id, field, sent, valid: "no change", message };
}

/** The issue of a completion of a cancelled item. `similar`: an item that may have taken its place. */
export function isCancelled(id: string, similar: Todo | undefined): Issue {
  const instead = similar
    ? `If you did item ${similar.id} (${similar.content}), report that one; else start ${id} again first.`
    : `Start it again first, or report the item that you did.`;
  const message = `Item ${id} is cancelled and cannot be completed. ${instead}`;
  return { rule: "frozen", item: id, field: "done", sent: id, valid: "an open item", message };
}

function checkLimits(todos: readonly Todo[], policy: Policy): Issue[] {
  const issues: Issue[] = [];
  if (todos.length > policy.maxItems) issues.push(tooManyItems(todos.length, policy.maxItems));
  const running = todos.filter((todo) => todo.status === "in_progress");
  if (running.length > policy.maxInProgress) {
    const [limit, valid] =
      policy.maxInProgress === 1
        ? ["Only one task can be in_progress at a time", "one item in_progress"]
        : [
            `At most ${policy.maxInProgress} tasks can be in_progress at a time`,
            `at most ${policy.maxInProgress} items in_progress`,
          ];
    const sent = running.map((todo) => todo.id);
    const message = `${limit}; these would be: ${sent.join(", ")}. Finish one before starting another.`;
    issues.push({ rule: "max-in-progress", item: sent.at(-1)!, field: "status", sent, valid, message });
  }
  return issues;
}

function checkDependencies(todos: readonly Todo[], policy: Policy, before: readonly Todo[]): Issue[] {
  const issues: Issue[] = [];
  const items = byId(todos);
  let names: string | undefined;
  for (const todo of todos) {
    for (const id of todo.dependsOn ?? []) {
      if (items.has(id)) continue;
      names ??= listIds(todos);
      issues.push(unknownId(id, `item ${todo.id}, dependsOn`, names));
    }
  }
  const cycle = findCycle(todos);
  if (cycle) {
    const path = cycle.join(" -> ");
    const message = `Items wait for each other in a circle: ${path}. Remove one of these dependencies.`;
    const [item] = cycle as [string];
    issues.push({ rule: "cycle", item, field: "dependsOn", sent: path, valid: "no circle", message });
  }
  if (policy.earlyStart === "allow") return issues;
  const old = byId(before);
  for (const todo of todos) {
    const isStarted =
      todo.status === "in_progress" ||
      (todo.status === "completed" && old.get(todo.id)?.status !== "completed");
    const unmet = isStarted ? unmetDependencies(todo, items).filter((id) => items.has(id)) : [];
    if (unmet.length === 0) continue;
    const valid = `completed dependencies (${unmet.join(", ")})`;
    const verb = todo.status === "completed" ? "completed" : "started";
    const message = `Item ${todo.id} cannot be ${verb} before ${unmet.join(", ")}: it depends on that. Complete that first.`;
    issues.push({ rule: "dependency", item: todo.id, field: "status", sent: todo.status, valid, message });
  }
  return issues;
}

function checkIdle(todos: readonly Todo[], policy: Policy): Issue[] {
  if (policy.idle !== "refuse" || todos.some((todo) => todo.status === "in_progress")) return [];
  const next = nextStartable(todos);
  if (!next) return [];
  const message = `Nothing is in_progress; mark the item you are working on, such as ${next.id}.`;
  return [{ rule: "idle", item: next.id, field: "status", sent: next.status, valid: "in_progress", message }];
}
