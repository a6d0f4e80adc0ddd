import { expect, it } from "vitest";
import { ThreadProtocol, type StreamPiece, type ThreadEvent } from "./thread-protocol.ts";

const CONFIG = { configurable: { thread_id: "t", checkpoint_id: "c" } };

it("the protocol announces whole checkpoints before their values", () => {
  const events: ThreadEvent[] = [];
  const protocol = new ThreadProtocol({ push: (event) => events.push(event) }, "graph");
  const piece = (mode: StreamPiece["mode"], payload: unknown, namespace: string[] = []): void =>
    protocol.chunk({ namespace, mode, payload });
  protocol.root("running");
  piece("values", { count: 1 });
  piece("checkpoints", { config: CONFIG, values: {}, metadata: { step: 1, source: "loop" } });
  piece("updates", { add: { count: 2 } });
  piece("values", { count: 2 }, ["tools:1"]);
  piece("checkpoints", { config: CONFIG, values: {}, metadata: { step: 2, source: "loop" } });
  protocol.ask([], [{ id: "q", value: "Shall I?" }]);
  protocol.ask([], [{ id: "q", value: "Shall I?" }]);
  protocol.root("interrupted");
  const main = events.filter(({ method }) => method !== "lifecycle" && method !== "tasks");
  expect(main.map(({ method }) => method)).toEqual([
    "checkpoints",
    "values",
    "updates",
    "values",
    "checkpoints",
    "input.requested",
  ]);
});
