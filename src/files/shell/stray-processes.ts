import { readdir, readFile } from "node:fs/promises";
import pLimit from "p-limit";
import { COMMAND_TAG } from "./supervisor.ts";

const open = pLimit(64);

/**
 * The processes of a command, those included that have left its group and lost their parent: they have its tag in
 * their environment. Empty where the system does not show environments.
 */
export async function taggedProcesses(tag: string): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const text = Buffer.from(`${COMMAND_TAG}=${tag}`);
  const found = names.map((name) =>
    open(async () => {
      if (!/^\d+$/.test(name)) return [];
      // Those of other users cannot be read, and are none of ours.
      const environment = await readFile(`/proc/${name}/environ`).catch(() => undefined);
      return environment?.includes(text) ? [Number(name)] : [];
    }),
  );
  return (await Promise.all(found)).flat();
}
