import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Says how much code of ours a function runs: the counts of all its blocks, as V8 counts them for coverage. Unlike time
 * it is the same on every machine. What happens inside of V8, such as a regular expression, is not in it.
 *
 * To begin takes V8 as long as a large heap has it take, since all code is compiled anew: one counter does for many
 * functions. Until its end everything in this process is slow.
 */
export class WorkCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    // Of a function that was compiled before, V8 counts the calls and not the blocks; of one that is optimised it may
    // miss those of functions that have become a part of it.
    setFlagsFromString("--expose-gc");
    setFlagsFromString("--stress-flush-code");
    (runInNewContext("gc") as () => void)();
    setFlagsFromString("--no-stress-flush-code");
    setFlagsFromString("--no-opt");
  }

  of(run: () => unknown): number {
    this.#sinceLast();
    run();
    return this.#sinceLast();
  }

  /** The same for what has to be waited for; nothing else may run meanwhile. */
  async ofAsync(run: () => Promise<unknown>): Promise<number> {
    this.#sinceLast();
    await run();
    return this.#sinceLast();
  }

  end(): void {
    setFlagsFromString("--opt");
    this.#session.post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }

  /** What was counted since it was asked for last. */
  #sinceLast(): number {
    let total = 0;
    this.#session.post("Profiler.takePreciseCoverage", (_error, { result }) => {
      for (const { url, functions } of result) {
        if (!/\/src\/(?!.*\.test\.ts)/.test(url) || url.includes("node_modules")) continue;
        for (const { ranges } of functions) for (const { count } of ranges) total += count;
      }
    });
    return total;
  }
}
