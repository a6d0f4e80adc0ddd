import { Session } from "node:inspector";

/**
 * How much code of ours a function runs: the counts of all its blocks, as V8 counts them for coverage. Unlike time it
 * is the same on every machine. What happens inside of V8, such as a regular expression, is not in it. The most of a
 * few runs counts: while V8 compiles a function anew it may miss some.
 */
export function workOf(run: () => unknown): number {
  const session = begun();
  try {
    const counts = Array.from({ length: RUNS }, () => {
      run();
      return counted(session);
    });
    return Math.max(...counts);
  } finally {
    end(session);
  }
}

/** The same for what has to be waited for; nothing else may run meanwhile. */
export async function workOfAsync(run: () => Promise<unknown>): Promise<number> {
  const session = begun();
  try {
    let most = 0;
    for (let nth = 0; nth < RUNS; nth++) {
      await run();
      most = Math.max(most, counted(session));
    }
    return most;
  } finally {
    end(session);
  }
}

const RUNS = 5;

function begun(): Session {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return session;
}

function end(session: Session): void {
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
