import { SCHEDULED } from "@langchain/langgraph-checkpoint";
import type { CheckpointRow, HeadRow, ThreadRow, WriteRow } from "../database/index.ts";
import type { NewBlob } from "./blobs.ts";
import type { ThreadCache } from "./thread-cache.ts";

/** The changes that one call makes to a thread. */
export interface Change {
  row: ThreadRow;
  newBlobs: readonly NewBlob[];
  writes?: readonly WriteRow[];
  /** Whether they belong to a checkpoint that is not the newest. */
  isLate?: boolean;
  checkpoint?: PutCheckpoint;
}

/** A checkpoint that becomes the newest of its namespace, after `top`; or an existing one that is put again. */
export interface PutCheckpoint {
  row: CheckpointRow;
  top: HeadRow | undefined;
  isEdit: boolean;
  isRepeat: boolean;
}

const MAX_CHANGES = 64;

/** Changes of a thread that are saved in one statement: the writes of tasks, up to the next checkpoint. */
export class Batch {
  readonly cache: ThreadCache;
  /** The lease that it is saved under; without one, no one may hold the thread. */
  readonly token: string | undefined;
  /** The revision of the thread that it is made for. */
  readonly revision: number;
  readonly #changes: Change[] = [];

  constructor(cache: ThreadCache, token: string | undefined) {
    this.cache = cache;
    this.token = token;
    this.revision = cache.revision;
    cache.revision += 1;
  }

  isOpen(cache: ThreadCache, token: string | undefined): boolean {
    return (
      cache === this.cache && token === this.token && !this.checkpoint && this.#changes.length < MAX_CHANGES
    );
  }

  add(change: Change): void {
    this.#changes.push(change);
  }

  get row(): ThreadRow {
    return this.#changes.at(-1)!.row;
  }

  get checkpoint(): PutCheckpoint | undefined {
    return this.#changes.at(-1)?.checkpoint;
  }

  get newBlobs(): NewBlob[] {
    return this.#changes.flatMap(({ newBlobs }) => newBlobs);
  }

  get isLate(): boolean {
    return this.#changes.some(({ isLate }) => isLate);
  }

  /**
   * The writes of tasks, one for each key: the first, but the last of errors, interrupts and answers to them. Leaves out
   * the marks of calls running whose step the checkpoint ends; the user's edit does not end a step.
   */
  get writes(): WriteRow[] {
    const rows = new Map<string, WriteRow>();
    for (const row of this.#changes.flatMap(({ writes = [] }) => writes)) {
      // No text in the database contains this character.
      const rowKey = [row.ns, row.checkpoint, row.task, row.idx].join("\0");
      if (row.idx < 0 || !rows.has(rowKey)) rows.set(rowKey, row);
    }
    const ended = endedBy(this.checkpoint);
    return [...rows.values()].filter(
      ({ ns, checkpoint, channel }) => channel !== SCHEDULED || checkpoint !== ended?.id || ns !== ended.ns,
    );
  }
}

/** The checkpoint whose step ends with this one. */
export function endedBy(checkpoint: PutCheckpoint | undefined): HeadRow | undefined {
  return checkpoint?.isEdit ? undefined : checkpoint?.top;
}
