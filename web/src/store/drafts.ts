import { attempt } from "../../../src/errors.ts";

const STORED = "holdfast-draft ";
/** Longer drafts, such as images, are not stored: the browser keeps some megabytes for a tab. */
const MOST_STORED = 200_000;

/** Unsent input by thread and name, which outlives the component that it is typed in, and in `storage` a reload. */
export class Drafts {
  readonly #values = new Map<string, unknown>();
  readonly #listeners = new Set<() => void>();
  readonly #storage: Storage | undefined;

  constructor(storage?: Storage) {
    this.#storage = storage;
    for (const name of Object.keys(storage ?? {})) {
      if (!name.startsWith(STORED)) continue;
      const text = storage!.getItem(name) ?? "null";
      this.#values.set(
        name.slice(STORED.length),
        attempt(() => JSON.parse(text) as unknown),
      );
    }
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get(thread: string | undefined, name: string): unknown {
    return this.#values.get(keyOf(thread, name));
  }

  keep(thread: string | undefined, name: string, value: unknown): void {
    const key = keyOf(thread, name);
    this.#values.set(key, value);
    this.#store(key, value);
    this.#notify();
  }

  /** Removes all drafts whose name starts with `name`. */
  forget(thread: string | undefined, name: string): void {
    const start = keyOf(thread, name);
    for (const key of this.#values.keys()) {
      if (!key.startsWith(start)) continue;
      this.#values.delete(key);
      this.#storage?.removeItem(STORED + key);
    }
    this.#notify();
  }

  #store(key: string, value: unknown): void {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined || text.length > MOST_STORED) this.#storage?.removeItem(STORED + key);
    // Without room the draft is kept until a reload.
    else attempt(() => this.#storage?.setItem(STORED + key, text));
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
