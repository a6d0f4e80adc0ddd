import { basename, dirname, extname, join, resolve } from "node:path";
import { backupStore } from "../../../../storage/care/index.ts";
import { isDatabaseUrl } from "../../../../storage/open/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { existingState, maskedUrl, type StateFlags } from "../../threads/index.ts";
import { refuse } from "../../wording.ts";

/** `holdfast backup`: copies all threads into another file; runs may continue meanwhile. */
export async function backup(flags: StateFlags & { file?: string }, terminal: Terminal): Promise<number> {
  const { file } = flags;
  const path = existingState(flags, terminal);
  if (isDatabaseUrl(path)) {
    refuse(`A database is copied with the tools of Postgres: pg_dump "${maskedUrl(path)}" > threads.sql`);
  }
  const target = file === undefined ? defaultTarget(path, new Date()) : resolve(terminal.cwd, file);
  await backupStore(path, target);
  terminal.stdout.write(shown`All threads are in ${oneLine(target)}, checked from end to end.\n`);
  return EXIT.done;
}

function defaultTarget(path: string, now: Date): string {
  const ending = extname(path);
  const time = now.toISOString().slice(0, 19).replaceAll(":", "-");
  return join(dirname(path), `${basename(path, ending)}.backup-${time}${ending}`);
}
