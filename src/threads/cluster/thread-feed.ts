import type { HostedThread, RunStatus } from "../../storage/index.ts";
import { type Run, EventLog, type ThreadEvent, isWholeState } from "../host/index.ts";
import { tell, type Transaction } from "./database/database.ts";

/** The identity of a thread: a deleted thread's name may be used again. */
export type ThreadIdentity = Pick<HostedThread, "owner" | "createdAt">;

/** The events and runs of a thread that this server follows. */
export class ThreadFeed {
  /** As last read from the ledger. */
  identity: ThreadIdentity | undefined;
  readonly protocol = new EventLog<ThreadEvent>({ first: 1, isKept: isWholeState });
  readonly runs = new Map<string, Run>();
  /** The ids of requested runs that are not in the queue yet. */
  readonly asked = new Set<string>();
  /** Statuses of ended runs from their workers' events, possibly before the ledger has them. */
  readonly endings = new Map<string, RunStatus>();
  /** Whether events that are read now are new ones. */
  isLive = false;
  usedAt = Date.now();

  constructor(identity: ThreadIdentity | undefined) {
    this.identity = identity;
  }

  get isUsed(): boolean {
    return this.protocol.isRead || [...this.runs.values()].some((run) => !run.isOver || run.chunks.isRead);
  }

  /** Whether it can be of this thread. An unknown identity fits any thread of its name. */
  isOf(thread: ThreadIdentity | undefined): boolean {
    const { identity } = this;
    return (
      !identity || !thread || (identity.createdAt === thread.createdAt && identity.owner === thread.owner)
    );
  }

  drop(run: Run): void {
    if (this.runs.get(run.id) !== run) return;
    this.runs.delete(run.id);
    this.endings.delete(run.id);
  }

  /** Ends its readers and runs. */
  close(): void {
    this.protocol.close();
    for (const run of this.runs.values()) {
      if (run.isOver) continue;
      run.settle(this.endings.get(run.id) ?? "interrupted");
      run.end();
    }
  }
}

export function identityOf(thread: HostedThread | undefined): ThreadIdentity | undefined {
  return (
    thread && { createdAt: thread.createdAt, ...(thread.owner !== undefined && { owner: thread.owner }) }
  );
}

/** The notice to servers that a thread was deleted. */
export interface Removal {
  thread: string;
  known: ThreadIdentity | undefined;
  /** The id of the host or worker that deleted it. */
  by: string;
  /** Whether it was a temporary thread, whose last events servers may still have to read. */
  isEnding?: boolean;
}

export async function tellRemoval(db: Transaction, removal: Removal): Promise<void> {
  await tell(db, "removed", JSON.stringify(removal));
}

export function readRemoval(payload: string): Removal {
  return JSON.parse(payload) as Removal;
}
