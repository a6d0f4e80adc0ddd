/** Unsent input by thread and name, which outlives the component that it is typed in. */
export class Drafts {
  readonly #values = new Map<string, unknown>();
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get(thread: string | undefined, name: string): unknown {
    return this.#values.get(keyOf(thread, name));
  }

  keep(thread: string | undefined, name: string, value: unknown): void {
    this.#values.set(keyOf(thread, name), value);
    this.#notify();
  }

  /** Removes all drafts whose name starts with `name`. */
  forget(thread: string | undefined, name: string): void {
    const start = keyOf(thread, name);
    for (const key of this.#values.keys()) if (key.startsWith(start)) this.#values.delete(key);
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function keyOf(thread: string | undefined, name: string): string {
  return `${thread === undefined ? "new" : `t/${encodeURIComponent(thread)}`} ${name}`;
}

/** The name of a draft for a question; without a field, the prefix of all its drafts. */
export function questionDraft(id: string, field = ""): string {
  return `question ${encodeURIComponent(id)} ${field}`;
}

export const PLAN_DRAFT = "plan";
/** The decisions on open questions that are not sent yet. */
export const DECISIONS = "decided";
