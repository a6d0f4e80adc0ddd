/** Runs a function in the next turn of the event loop. Browsers have no `setImmediate`. */
const defer: (run: () => void) => unknown = globalThis.setImmediate ?? ((run) => setTimeout(run));

/** The time that agents may use before other work of the process gets its turn, in milliseconds. */
const MAX_BUSY_MS = 10;

const waiting: (() => void)[] = [];
/** The time at which agents began to work in this turn of the event loop. */
let busySince: number | undefined;

/**
 * Lets timers and I/O of the process run if agents have kept it busy for a while. A step of a graph rarely waits for
 * anything but its model, so a thousand ready steps would run without a break, for seconds. From then on one agent
 * continues per turn of the event loop. Undefined if there is no need to wait.
 */
export function yieldToEventLoop(): Promise<void> | undefined {
  if (waiting.length === 0 && !isBusy()) return undefined;
  return new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) defer(release);
  });
}

function isBusy(): boolean {
  if (busySince !== undefined) return performance.now() - busySince >= MAX_BUSY_MS;
  busySince = performance.now();
  defer(endTurn);
  return false;
}

function endTurn(): void {
  busySince = undefined;
}

function release(): void {
  busySince = performance.now();
  waiting.shift()?.();
  defer(waiting.length > 0 ? release : endTurn);
}
