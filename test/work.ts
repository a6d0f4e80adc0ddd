import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * How much code of ours a function runs: the counts of all its blocks, as V8 counts them for coverage. Unlike time it
 * is the same on every machine. What happens inside of V8, such as a regular expression, is not in it.
 */
export function workOf(run: () => unknown): number {
  const session = begun();
  try {
    run();
    return counted(session);
  } finally {
    end(session);
  }
}

/** The same for what has to be waited for; nothing else may run meanwhile. */
export async function workOfAsync(run: () => Promise<unknown>): Promise<number> {
  const session = begun();
  try {
    await run();
    return counted(session);
  } finally {
    end(session);
  }
}

function begun(): Session {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  // Of a function that was compiled before, V8 counts the calls and not the blocks; of one that is optimised it may
  // miss those of functions that have become a part of it.
  setFlagsFromString("--expose-gc");
  setFlagsFromString("--stress-flush-code");
  (runInNewContext("gc") as () => void)();
  setFlagsFromString("--no-stress-flush-code");
  setFlagsFromString("--no-opt");
  return session;
}

function end(session: Session): void {
  setFlagsFromString("--opt");
  session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
}

function counted(session: Session): number {
  let total = 0;
  session.post("Profiler.takePreciseCoverage", (_error, { result }) => {
    for (const { url, functions } of result) {
      if (!/\/src\/(?!.*\.test\.ts)/.test(url) || url.includes("node_modules")) continue;
      for (const { ranges } of functions) for (const { count } of ranges) total += count;
    }
  });
  return total;
}
