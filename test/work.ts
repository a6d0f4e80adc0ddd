import { Session } from "node:inspector";

/**
 * How much code of ours a function runs: the counts of all its blocks, as V8 counts them for coverage. Unlike time it
 * is the same on every machine. What happens inside of V8, such as a regular expression, is not in it. The most of a
 * few runs counts: while V8 compiles a function anew it may miss some.
 */
export function workOf(run: () => unknown): number {
  const session = new Session();
  session.connect();
  try {
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    return Math.max(...Array.from({ length: 5 }, () => counted(session, run)));
  } finally {
    session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
}

function counted(session: Session, run: () => unknown): number {
  let total = 0;
  run();
  session.post("Profiler.takePreciseCoverage", (_error, { result }) => {
    for (const { url, functions } of result) {
      if (!/\/src\/(?!.*\.test\.ts)/.test(url) || url.includes("node_modules")) continue;
      for (const { ranges } of functions) for (const { count } of ranges) total += count;
    }
  });
  return total;
}
