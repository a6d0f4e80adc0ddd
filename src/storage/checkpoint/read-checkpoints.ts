import type { Place } from "./key.ts";

/** So many checkpoints are remembered; who goes on from an older one is not warned. */
const MAX_SEEN = 10_000;

/** Checkpoints that were the newest of their namespace when they were last read or written through one saver. */
export class Seen {
  readonly #keys = new Set<string>();

  add(place: Place): void {
    this.#keys.add(keyOf(place));
    if (this.#keys.size <= MAX_SEEN) return;
    const [oldest] = this.#keys;
    this.#keys.delete(oldest!);
  }

  /** Forgets one that was asked for by its name. */
  delete(place: Place): void {
    this.#keys.delete(keyOf(place));
  }

  has(place: Place): boolean {
    return this.#keys.has(keyOf(place));
  }
}

function keyOf({ thread, ns, id }: Place): string {
  return `${thread} ${id} ${ns}`;
}
