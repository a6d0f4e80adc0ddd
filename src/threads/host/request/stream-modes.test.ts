import { expect, it } from "vitest";
import { streamModes } from "./stream-modes.ts";

it("costly modes are made only on request, and all modes without a request", () => {
  const cheap = ["values", "updates", "custom"];
  expect(streamModes({})).toEqual([...cheap, "messages", "tools", "tasks", "checkpoints"]);
  expect(streamModes({ modes: ["custom"] })).toEqual(cheap);
  expect(streamModes({ modes: ["messages-tuple", "debug"] })).toEqual([
    ...cheap,
    "messages",
    "tasks",
    "checkpoints",
  ]);
});
