import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventReader } from "./stream.ts";

const WIRE =
  ': hello\n\nid: 1\nevent: run\ndata: {"a":1}\n\nevent: gap\r\ndata: {}\r\n\r\n: beat\n\nid: 3\nevent: thread\ndata: {\ndata: }\n\n';

describe("the stream of events", () => {
  it("is read the same however it is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: WIRE.length })), (cuts) => {
        const read = eventReader();
        const places = [0, ...cuts.toSorted((a, b) => a - b), WIRE.length];
        const events = places.slice(1).flatMap((end, index) => read(WIRE.slice(places[index], end)));
        expect(events).toEqual([
          { id: "1", event: "run", data: '{"a":1}' },
          { event: "gap", data: "{}" },
          { id: "3", event: "thread", data: "{\n}" },
        ]);
      }),
    );
  });
});
