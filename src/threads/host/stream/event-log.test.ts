import { expect, it, vi } from "vitest";
import { EventLog, type Entry } from "./event-log.ts";

async function all<T>(entries: AsyncIterable<Entry<T>[]>): Promise<Entry<T>[]> {
  const found: Entry<T>[] = [];
  for await (const some of entries) found.push(...some);
  return found;
}

it("a reader gets past and new events in order, until the log is closed", async () => {
  const log = new EventLog<string>();
  log.push("a");
  const reading = all(log.read(0));
  log.push("b");
  await Promise.resolve();
  log.push("c");
  log.close();
  expect(await reading).toEqual([
    { n: 1, event: "a" },
    { n: 2, event: "b" },
    { n: 3, event: "c" },
  ]);
  expect(await all(log.read(2))).toEqual([{ n: 3, event: "c" }]);
  expect(log.since(1)).toEqual([
    { n: 2, event: "b" },
    { n: 3, event: "c" },
  ]);
});

it("an idle reader costs nothing: the log drops events, and the reader finds a gap", async () => {
  const log = new EventLog<number>({ first: 100, most: 8 });
  const slow = log.read(99);
  log.push(0);
  expect((await slow.next()).value).toEqual([{ n: 100, event: 0 }]);
  for (let at = 1; at <= 1000; at += 1) {
    expect(log.push(at)).toBe(100 + at);
    expect(log.last - log.first).toBeLessThan(8);
  }
  log.close();
  const rest = await all(slow);
  expect(rest[0]).toEqual({ n: log.first - 1, gap: true });
  expect(rest.slice(1).map((entry) => ("event" in entry ? entry.event : undefined))).toEqual(
    log.since(0).map((entry) => ("event" in entry ? entry.event : undefined)),
  );
});

it("a reader that finds a gap gets the newest dropped event that describes the state", async () => {
  const log = new EventLog<string>({ most: 4, isKept: (event) => event.startsWith("state") });
  for (const event of ["state 1", "a", "state 2", "b", "c", "d", "e"]) log.push(event);
  log.close();
  expect((await all(log.read(0)))[0]).toEqual({ n: log.first - 1, gap: true, kept: "state 2" });
});

it("a reader gets all events of one burst together", async () => {
  const log = new EventLog<string>();
  const reader = log.read(0);
  const next = reader.next();
  for (const event of ["a", "b", "c"]) {
    log.push(event);
    await Promise.resolve();
  }
  expect((await next).value).toEqual([
    { n: 1, event: "a" },
    { n: 2, event: "b" },
    { n: 3, event: "c" },
  ]);
});

it("a reader that goes is forgotten", async () => {
  const log = new EventLog<string>();
  const gone = new AbortController();
  const reading = all(log.read(0, { signal: gone.signal }));
  await Promise.resolve();
  expect(log.isRead).toBe(true);
  gone.abort();
  expect(await reading).toEqual([]);
  expect(log.isRead).toBe(false);
  log.push("a");
  expect(log.since(0)).toEqual([{ n: 1, event: "a" }]);
});

it("a log without readers keeps fewer events, and all for a reader that may return", async () => {
  vi.useFakeTimers({ now: 0 });
  try {
    const log = new EventLog<number>({ most: 800, mostUnread: 8 });
    const say = (count: number): void => Array.from({ length: count }).forEach((_, n) => void log.push(n));
    say(100);
    expect(log.since(0).length).toBeLessThanOrEqual(8);
    const gone = new AbortController();
    const reader = log.read(log.last, { signal: gone.signal });
    const next = reader.next();
    say(400);
    await next;
    expect(log.since(100)).toHaveLength(400);
    gone.abort();
    await reader.return();
    vi.setSystemTime(60_000);
    say(100);
    expect(log.since(100)).toHaveLength(500);
    vi.setSystemTime(11 * 60_000);
    say(1);
    expect(log.since(0).length).toBeLessThanOrEqual(8);
    expect(log.last).toBe(601);
  } finally {
    vi.useRealTimers();
  }
});
