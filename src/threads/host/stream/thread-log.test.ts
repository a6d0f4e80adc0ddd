import { expect, it, vi } from "vitest";
import { ThreadLog } from "./thread-log.ts";
import { ThreadProtocol, type StreamPiece, type ThreadEvent, type ThreadSink } from "./thread-protocol.ts";

const CONFIG = { configurable: { thread_id: "t", checkpoint_id: "c" } };

/** A run as it comes out of LangGraph: whole checkpoints come after their values, and are announced before them. */
function tell(sink: ThreadSink): void {
  const protocol = new ThreadProtocol(sink, "graph");
  const piece = (mode: StreamPiece["mode"], payload: unknown, namespace: string[] = []): void =>
    protocol.chunk({ namespace, mode, payload });
  protocol.root("running");
  piece("values", { count: 1 });
  piece("checkpoints", { config: CONFIG, values: {}, metadata: { step: 1, source: "loop" } });
  piece("custom", { n: 1 });
  piece("updates", { add: { count: 2 } });
  piece("values", { count: 2 }, ["tools:1"]);
  piece("checkpoints", { config: CONFIG, values: {}, metadata: { step: 2, source: "loop" } });
  protocol.ask([], [{ id: "q", value: "Shall I?" }]);
  protocol.root("interrupted");
}

it("who asks for a thread's log late finds what who asked early found, at the same times", () => {
  vi.useFakeTimers({ now: 1000 });
  try {
    const early: ThreadEvent[] = [];
    const late = new ThreadLog({});
    const asked = new ThreadLog({});
    asked.ask();
    tell({ push: (event) => early.push(event) });
    for (const log of [late, asked]) tell(log);
    vi.setSystemTime(2000);
    for (const log of [late, asked]) {
      const found = log.ask().since(0);
      expect(found.map((entry) => ("event" in entry ? entry.event : undefined))).toEqual(early);
    }
    expect(early.map(({ params }) => params.timestamp)).toContain(1000);
    expect(early.map(({ params }) => params.timestamp)).not.toContain(2000);
    expect(early.map(({ method }) => method)).toContain("checkpoints");
  } finally {
    vi.useRealTimers();
  }
});

it("nothing is written before somebody asks, unless it is more than is kept", () => {
  const log = new ThreadLog({ most: 8 });
  let written = 0;
  const writer = {
    write: () => {
      written += 1;
      log.push({ method: "custom", params: { namespace: [], timestamp: 0, data: written } });
    },
  };
  const said: StreamPiece = { namespace: [], mode: "custom", payload: 1 };
  for (let n = 0; n < 10_000; n += 1) log.say(writer, said);
  expect(written).toBe(0);
  log.say(writer, said);
  expect(written).toBe(10_001);
  log.say(writer, said);
  expect(written).toBe(10_002);
  expect(log.ask().since(0).length).toBeLessThanOrEqual(8);
});
