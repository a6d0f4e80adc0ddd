import { setImmediate } from "node:timers/promises";

/** The time after which other requests get their turn. */
const TURN_MS = 10;
/** The number of things in work at a time. */
const AT_ONCE = 8;

/** Maps a list, and lets other requests run in between. */
export async function mapInTurns<T, Result>(
  things: readonly T[],
  work: (thing: T) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let since = performance.now();
  for (let at = 0; at < things.length; at += AT_ONCE) {
    results.push(...(await Promise.all(things.slice(at, at + AT_ONCE).map(work))));
    if (performance.now() - since < TURN_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  return results;
}

/** The things for which `isMatch` is true, found in turns. */
export async function filterInTurns<T>(
  things: readonly T[],
  isMatch: (thing: T) => boolean | Promise<boolean>,
): Promise<T[]> {
  const matches = await mapInTurns(things, isMatch);
  return things.filter((_, at) => matches[at]);
}
