import { tell, type Transaction } from "./database/database.ts";
import type { ThreadIdentity } from "./thread-feed.ts";

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
