import { expect, it } from "vitest";
import { bitFlips } from "../attack/bit-flips.ts";

it("a thread store with a flipped bit is read as it was written, or refused with an error of ours", async () => {
  const { tries, failures, notes } = await bitFlips.run({ tries: 100, seed: 1 });
  expect({ tries, failures }, notes).toEqual({ tries: 100, failures: 0 });
  expect(notes).toMatch(/refused [1-9]/);
}, 300_000);
