import type { Todo } from "./todo.ts";

/** An ordered list of items with an index by id, so that a change costs no walk through the whole plan. */
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

  /** Replaces the item that has the same id. */
  replace(todo: Todo): void {
    this.#byId.set(todo.id, todo);
  }

  /** Adds an item before another, or at an index, or at the end. */
  add(todo: Todo, place: { before?: string; index?: number } = {}): void {
    const { before } = place;
    const index = before === undefined ? (place.index ?? Infinity) : this.#order.indexOf(before);
    this.#byId.set(todo.id, todo);
    if (index >= this.#order.length) this.#order.push(todo.id);
    else this.#order.splice(index, 0, todo.id);
  }

  remove(ids: Iterable<string>): void {
    let isChanged = false;
    for (const id of ids) isChanged = this.#byId.delete(id) || isChanged;
    if (isChanged) this.#order = this.#order.filter((id) => this.#byId.has(id));
  }

  /** Moves the listed ids to the front, in that order. The others follow in their old order. */
  reorder(order: readonly string[]): void {
    const front = new Set(order.filter((id) => this.#byId.has(id)));
    this.#order = [...front, ...this.#order.filter((id) => !front.has(id))];
  }
}
