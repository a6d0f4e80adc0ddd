import type { Todo } from "../../plan/index.ts";
import { isSame } from "../../plan/todo/diff.ts";

type States = readonly (readonly Todo[])[];

/**
 * The states that a list went through within one step, oldest first. LangGraph reduces the writes of a step in one
 * synchronous batch. A person's edit of a step that waits is a batch of its own before it: so the states of a batch
 * with a whole list in it stay known to the next batch, and those of any other batch end with it.
 */
export class StepStates {
  /** States by the list that the last write led to. */
  readonly #states = new WeakMap<readonly Todo[], States>();
  #batch: { lists: Map<readonly Todo[], States>; hasWholeList: boolean } | undefined;

  /** The states before a list that a write of this step led to; undefined where no write did. */
  before(list: readonly Todo[]): States | undefined {
    return this.#states.get(list);
  }

  /** Notes that a write led from one list to the next. */
  add(current: readonly Todo[], next: readonly Todo[], { isWholeList }: { isWholeList: boolean }): void {
    const batch = (this.#batch ??= this.#begin());
    batch.hasWholeList ||= isWholeList;
    batch.lists.set(next, [...(batch.lists.get(current) ?? []), current]);
    this.#states.set(next, [...(this.#states.get(current) ?? []), current]);
  }

  #begin() {
    const batch = { lists: new Map<readonly Todo[], States>(), hasWholeList: false };
    queueMicrotask(() => {
      this.#batch = undefined;
      for (const [list, states] of batch.lists) {
        if (batch.hasWholeList) this.#states.set(list, states);
        else this.#states.delete(list);
      }
    });
    return batch;
  }
}

/**
 * The list that a whole-list write started from. Its writer may have known some of the step's other writes and not the
 * rest, so an item that stands in the write as in any state of the step is one that the writer left alone.
 */
export function baseOf(update: readonly unknown[], states: States): readonly Todo[] {
  const byId = (list: readonly unknown[], id: string): Todo | undefined =>
    (list as readonly (Todo | undefined)[]).find((todo) => todo?.id === id);
  const unchanged = (id: string): Todo | undefined => {
    const sent = byId(update, id);
    return states.map((state) => byId(state, id)).find((todo) => todo !== undefined && isSame(todo, sent));
  };
  const first = states[0]!;
  const base = first.map((todo) => unchanged(todo.id) ?? todo);
  // A writer that names an item of another writer knows of it.
  for (const todo of states.slice(1).toReversed().flat()) {
    if (byId(update, todo.id) && !byId(base, todo.id)) base.push(unchanged(todo.id) ?? todo);
  }
  return base;
}
