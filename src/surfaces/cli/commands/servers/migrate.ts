import { grantRights, openCluster } from "../../../../threads/cluster/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { databaseUrl, shownState, type StateFlags } from "../../threads/index.ts";

/** `holdfast migrate`: creates or updates the tables of a database, and grants their use to a role. */
export async function migrate(flags: StateFlags & { role?: string }, terminal: Terminal): Promise<number> {
  const { role } = flags;
  const url = databaseUrl(flags, terminal);
  const cluster = await openCluster(url);
  try {
    if (role !== undefined) await grantRights(cluster.db.pool, role);
  } finally {
    await cluster.close();
  }
  const users = role === undefined ? shown`` : shown`, and ${oneLine(role)} may use them`;
  terminal.stdout.write(shown`The tables in ${oneLine(shownState(url))} are up to date${users}.\n`);
  return EXIT.done;
}
