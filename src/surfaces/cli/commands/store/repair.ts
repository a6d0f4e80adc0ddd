import { repairStore } from "../../../../storage/care/index.ts";
import { isDatabaseUrl } from "../../../../storage/open/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { existingState, type StateFlags } from "../../threads/index.ts";
import { refuse } from "../../wording.ts";
import { progressOn, writeProblems } from "./check.ts";

/** `holdfast repair`: recovers damaged threads into a new file, and keeps the old one. */
export async function repair(flags: StateFlags, terminal: Terminal): Promise<number> {
  const path = existingState(flags, terminal);
  if (isDatabaseUrl(path)) {
    refuse(
      "Repair a database with the tools of Postgres: restore a backup (pg_restore). holdfast check lists the damage, and holdfast rm deletes a damaged thread.",
    );
  }
  const { stdout } = terminal;
  const { problems, kept, saved, lost } = await repairStore(path, {
    onProgress: progressOn(terminal, "Repairing"),
  });
  if (kept === undefined) {
    stdout.write(shown`${oneLine(path)} is whole; nothing was done.\n`);
    return EXIT.done;
  }
  writeProblems(problems, terminal);
  for (const id of lost) stdout.write(shown`lost: ${oneLine(id)}\n`);
  stdout.write(
    shown`${saved} ${oneLine(saved === 1 ? "thread is" : "threads are")} in ${oneLine(path)}. The old file is ${oneLine(kept)}.\n`,
  );
  return EXIT.done;
}
