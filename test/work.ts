import { Session } from "node:inspector";

/**
 * How much code of ours a function runs: the counts of all its blocks, as V8 counts them for coverage. Unlike time it
 * is the same on every machine. What happens inside of V8, such as a regular expression, is not in it.
 */
export function workOf(run: () => unknown): number {
  const session = new Session();
  session.connect();
  try {
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    run();
    let total = 0;
    session.post("Profiler.takePreciseCoverage", (_error, { result }) => {
      for (const { url, functions } of result) {
        if (!/\/src\/(?!.*\.test\.ts)/.test(url)) continue;
        for (const { ranges } of functions) for (const { count } of ranges) total += count;
      }
    });
    return total;
  } finally {
    session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
}
