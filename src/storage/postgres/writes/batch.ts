import { SCHEDULED } from "@langchain/langgraph-checkpoint";
import type { CheckpointRow, HeadRow, ThreadRow, WriteRow } from "../database/index.ts";
import type { FreshBlob } from "./blobs.ts";
import type { Desk } from "./thread-cache.ts";

/** What one call changes of a thread. */
export interface Change {
  /** What the row of the thread becomes. */
  row: ThreadRow;
  fresh: readonly FreshBlob[];
  writes?: readonly WriteRow[];
  /** Whether they belong to a checkpoint that is not the newest. */
  isLate?: boolean;
  checkpoint?: PutCheckpoint;
}

/** A checkpoint that becomes the newest of its namespace, after `top`; or one that is there and is put once more. */
export interface PutCheckpoint {
  row: CheckpointRow;
  top: HeadRow | undefined;
  isEdit: boolean;
  isAgain: boolean;
}

/** In one statement at most. */
const MOST = 64;

/** Changes of a thread that are one statement: what tasks have written, up to the checkpoint that follows. */
export class Batch {
  readonly desk: Desk;
  /** The lease that it is made by; without one, nobody may hold the thread. */
  readonly token: string | undefined;
  /** The revision of the thread that it is made for. */
  readonly revision: number;
  readonly #changes: Change[] = [];

  constructor(desk: Desk, token: string | undefined) {
    this.desk = desk;
    this.token = token;
    this.revision = desk.revision;
    desk.revision += 1;
  }

  /** Whether what comes next may be saved with it. */
  isOpen(desk: Desk, token: string | undefined): boolean {
    return desk === this.desk && token === this.token && !this.checkpoint && this.#changes.length < MOST;
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

  get fresh(): FreshBlob[] {
    return this.#changes.flatMap(({ fresh }) => fresh);
  }

  get isLate(): boolean {
    return this.#changes.some(({ isLate }) => isLate);
  }

  /**
   * A write of a task is kept as it was first made; errors, interrupts and answers to them have a place each, which the
   * last one gets. That calls have begun is of use until their step is over, and a person's edit does not end it.
   */
  get writes(): WriteRow[] {
    const rows = new Map<string, WriteRow>();
    for (const row of this.#changes.flatMap(({ writes = [] }) => writes)) {
      // No text in the database has this character in it.
      const place = [row.ns, row.checkpoint, row.task, row.idx].join("\0");
      if (row.idx < 0 || !rows.has(place)) rows.set(place, row);
    }
    const over = endedBy(this.checkpoint);
    return [...rows.values()].filter(
      ({ ns, checkpoint, channel }) => channel !== SCHEDULED || checkpoint !== over?.id || ns !== over.ns,
    );
  }
}

/** The checkpoint whose step is over with this one. */
export function endedBy(checkpoint: PutCheckpoint | undefined): HeadRow | undefined {
  return checkpoint?.isEdit ? undefined : checkpoint?.top;
}
