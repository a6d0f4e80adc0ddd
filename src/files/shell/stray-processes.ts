import { readdirSync, readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { attempt } from "../../errors.ts";
import { COMMAND_TAG } from "./supervisor.ts";

/** So many processes are looked at before others have their turn: to read them one by one in turns takes ten times the work. */
const AT_ONCE = 100;

/**
 * The processes of a command that still run, those included that have left its group and lost their parent: they have
 * its tag in their environment. One that has ended and waits to be collected by the system does not run. Undefined
 * where the system does not show processes.
 */
export async function commandProcesses(tag: string, group: number): Promise<number[] | undefined> {
  const pids = attempt(() => readdirSync("/proc").filter((name) => /^\d+$/.test(name)));
  const text = Buffer.from(`${COMMAND_TAG}=${tag}`);
  const isOurs = (pid: string): boolean => {
    // Its name, in brackets, may have spaces.
    const status = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)) ?? "Z";
    const [state, , own] = status.split(" ");
    if (state === "Z") return false;
    // Environments of other users cannot be read, and are none of ours.
    return (
      Number(own) === group || attempt(() => readFileSync(`/proc/${pid}/environ`))?.includes(text) === true
    );
  };
  const found: number[] = [];
  for (const [at, pid] of pids?.entries() ?? []) {
    if (isOurs(pid)) found.push(Number(pid));
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
  }
  return pids && found;
}
