import type { Todo } from "./todo.ts";

/** Items in their order, found by id, so that a change costs what it touches and not what the plan holds. */
export class Items {
  readonly #byId: Map<string, Todo>;
  #order: string[];

  constructor(todos: readonly Todo[]) {
    this.#byId = new Map(todos.map((todo) => [todo.id, todo]));
    this.#order = [...this.#byId.keys()];
  }

  get list(): Todo[] {
    return this.#order.map((id) => this.#byId.get(id)!);
  }

  get(id: string): Todo | undefined {
    return this.#byId.get(id);
  }

  /** Puts an item in the place of the one with its id. */
  replace(todo: Todo): void {
    this.#byId.set(todo.id, todo);
  }

  /** Adds an item in front of another, or at a place, or at the end. */
  add(todo: Todo, at: { before?: string; index?: number } = {}): void {
    const index = at.before === undefined ? (at.index ?? Infinity) : this.#order.indexOf(at.before);
    this.#byId.set(todo.id, todo);
    if (index >= this.#order.length) this.#order.push(todo.id);
    else this.#order.splice(index, 0, todo.id);
  }

  remove(ids: Iterable<string>): void {
    let isGone = false;
    for (const id of ids) isGone = this.#byId.delete(id) || isGone;
    if (isGone) this.#order = this.#order.filter((id) => this.#byId.has(id));
  }

  /** The listed ids first and in that order, everything else behind them in its old order. */
  reorder(order: readonly string[]): void {
    const listed = new Set(order.filter((id) => this.#byId.has(id)));
    this.#order = [...listed, ...this.#order.filter((id) => !listed.has(id))];
  }
}
