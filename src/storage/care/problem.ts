/** A damaged part of a thread store; without a thread, of the file as a whole. */
export interface Problem {
  thread?: string;
  what: string;
}

/** The progress of a check or repair. */
export interface Progress {
  done: number;
  total: number;
}

/** The problem of a damaged row in the ledger; a schedule belongs to no thread. */
export function ledgerDamage(thread: string | undefined): Problem {
  if (thread === undefined) return { what: "a schedule of its server is damaged" };
  return { thread, what: "an entry of its server is damaged" };
}

/** The damage when not all writes to a checkpoint are intact. */
export function writesDamage(
  id: string,
  { expected, intact }: { expected: unknown; intact: number },
): string {
  return `of ${String(expected)} writes to checkpoint ${id} ${intact} are whole`;
}

/** The damage when a namespace's row in `heads` does not fit its intact checkpoints, if any. */
export function headDamage(
  ns: string,
  head: { id: string; count: number } | undefined,
  { count, newest }: { count: number; newest: string | undefined },
): string | undefined {
  const where = ns === "" ? "" : ` of ${ns}`;
  if (!head) return `the record of the newest checkpoint${where} is damaged`;
  if (head.count !== count) return `of ${head.count} checkpoints${where} ${count} are whole`;
  return head.id === newest ? undefined : `the newest checkpoint${where} is missing`;
}
