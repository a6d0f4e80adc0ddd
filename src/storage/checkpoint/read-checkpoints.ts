import type { CheckpointRowKey } from "./key.ts";

/** The cache size; a write that continues from an older checkpoint is not checked. */
const MAX_CHECKPOINTS = 10_000;

/** Checkpoints that were the newest of their namespace when they were last read or written through one saver. */
export class ReadCheckpoints {
  readonly #keys = new Set<string>();

  add(rowKey: CheckpointRowKey): void {
    this.#keys.add(keyOf(rowKey));
    if (this.#keys.size <= MAX_CHECKPOINTS) return;
    const [oldest] = this.#keys;
    this.#keys.delete(oldest!);
  }

  /** Forgets a checkpoint that was read by its id. */
  delete(rowKey: CheckpointRowKey): void {
    this.#keys.delete(keyOf(rowKey));
  }

  has(rowKey: CheckpointRowKey): boolean {
    return this.#keys.has(keyOf(rowKey));
  }
}

function keyOf({ thread, ns, id }: CheckpointRowKey): string {
  return `${thread} ${id} ${ns}`;
}
