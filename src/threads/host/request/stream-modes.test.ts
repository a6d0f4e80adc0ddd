import { expect, it } from "vitest";
import { streamModes } from "./stream-modes.ts";

it("costly modes are made for who asked for them, and all where nobody did", () => {
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
