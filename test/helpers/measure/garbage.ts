import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects all garbage, also such as takes several turns of the event loop. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  for (let time = 0; time < 4; time += 1) {
    await setImmediate();
    collect();
  }
}

/** The bytes of this process's heap that are no garbage. */
export async function heapInUse(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}
