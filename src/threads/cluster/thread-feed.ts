import type { HostedThread, RunStatus } from "../../storage/index.ts";
import { type Run, EventLog, type ThreadEvent, isWholeState } from "../host/index.ts";
import { tell, type Transaction } from "./database/database.ts";

/** The identity of a thread: a deleted thread's name may be used again. */
export type ThreadIdentity = Pick<HostedThread, "owner" | "createdAt">;

/** A thread that somebody follows here, wherever it is run. */
export class ThreadFeed {
  /** The ledger's last answer. */
  identity: ThreadIdentity | undefined;
  readonly protocol = new EventLog<ThreadEvent>({ first: 1, isKept: isWholeState });
  readonly runs = new Map<string, Run>();
  /** Runs that are asked for here and not in the queue yet. */
  readonly asked = new Set<string>();
  /** Statuses of ended runs as their workers reported them, possibly before the ledger has them. */
  readonly endings = new Map<string, RunStatus>();
  /** Whether what is read is news, and not what was there before. */
  isLive = false;
  usedAt = Date.now();

  constructor(identity: ThreadIdentity | undefined) {
    this.identity = identity;
  }

  get isUsed(): boolean {
    return this.protocol.isRead || [...this.runs.values()].some((run) => !run.isOver || run.chunks.isRead);
  }

  /** Whether it can be of a thread; one that is not in the ledger may be any of its name. */
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

  /** Ends whatever is read of it. */
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
  /** The host or the worker that has deleted it. */
  by: string;
  /** Whether it was for one run, of which servers may still have to read the end. */
  isEnding?: boolean;
}

export async function tellRemoval(db: Transaction, removal: Removal): Promise<void> {
  await tell(db, "removed", JSON.stringify(removal));
}

export function readRemoval(payload: string): Removal {
  return JSON.parse(payload) as Removal;
}
