/** Runs something when the event loop comes round. A browser has no `setImmediate`. */
const soon: (run: () => void) => unknown = globalThis.setImmediate ?? ((run) => setTimeout(run));

/** The milliseconds for which agents may go on before other work of the process gets its turn. */
const SPAN = 10;

const waiting: (() => void)[] = [];
/** When agents began to work in this turn of the event loop. */
let since: number | undefined;

/**
 * Lets timers and I/O of the process run, where agents have kept it busy for a while. A step of a graph hardly ever
 * waits for anything but its model: a thousand of them that are ready at once would be run in one go, for seconds.
 * From then on one agent goes on per turn of the event loop. Undefined where nobody has to wait.
 */
export function yieldToEventLoop(): Promise<void> | undefined {
  if (waiting.length === 0 && !isBusy()) return undefined;
  return new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) soon(release);
  });
}

function isBusy(): boolean {
  if (since !== undefined) return performance.now() - since >= SPAN;
  since = performance.now();
  soon(endTurn);
  return false;
}

function endTurn(): void {
  since = undefined;
}

function release(): void {
  since = performance.now();
  waiting.shift()?.();
  soon(waiting.length > 0 ? release : endTurn);
}
