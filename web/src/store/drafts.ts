/** Unsent texts by thread and name, which outlive the component that they are typed in. */
export class Drafts {
  readonly #kept = new Map<string, unknown>();
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get(thread: string | undefined, name: string): unknown {
    return this.#kept.get(keyOf(thread, name));
  }

  keep(thread: string | undefined, name: string, value: unknown): void {
    this.#kept.set(keyOf(thread, name), value);
    this.#tell();
  }

  /** Forgets all whose name begins so. */
  forget(thread: string | undefined, name: string): void {
    const start = keyOf(thread, name);
    for (const key of this.#kept.keys()) if (key.startsWith(start)) this.#kept.delete(key);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function keyOf(thread: string | undefined, name: string): string {
  return `${thread === undefined ? "new" : `t/${encodeURIComponent(thread)}`} ${name}`;
}

/** The name of what was begun about a question; what follows says what it is. */
export function questionDraft(id: string, what = ""): string {
  return `question ${encodeURIComponent(id)} ${what}`;
}

/** The name of a plan under somebody's hands. */
export const PLAN_DRAFT = "plan";
