import { basename, dirname, extname, join, resolve } from "node:path";
import { backupStore } from "../../../storage/index.ts";
import { EXIT } from "../exit-codes.ts";
import { oneLine, shown } from "../output/harmless.ts";
import type { Terminal } from "../terminal.ts";
import { existingState } from "../threads.ts";

export interface BackupFlags {
  file?: string | undefined;
  state?: string | undefined;
}

/** `holdfast backup`: copies all threads into another file, while runs go on. */
export async function backup({ file, state }: BackupFlags, terminal: Terminal): Promise<number> {
  const path = existingState(state, terminal);
  const target = file === undefined ? besides(path, new Date()) : resolve(terminal.cwd, file);
  await backupStore(path, target);
  terminal.stdout.write(shown`All threads are in ${oneLine(target)}, checked from end to end.\n`);
  return EXIT.done;
}

function besides(path: string, now: Date): string {
  const ending = extname(path);
  const time = now.toISOString().slice(0, 19).replaceAll(":", "-");
  return join(dirname(path), `${basename(path, ending)}.backup-${time}${ending}`);
}
