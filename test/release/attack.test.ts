import { expect, it } from "vitest";
import { bitFlips } from "../../attack/bit-flips.ts";
import { ownGit } from "../../attack/own-git.ts";
import { rounds } from "../helpers/runner/rounds.ts";

it("a thread store with a flipped bit is read as written, or refused with our error", async () => {
  const wanted = rounds(100);
  const { tries, failures, notes } = await bitFlips.run({ tries: wanted, seed: 1 });
  expect({ tries, failures }, notes).toEqual({ tries: wanted, failures: 0 });
  expect(notes).toMatch(/refused [1-9]/);
});

it("no program of a planted repository runs through Holdfast's own reading of git", async () => {
  const { tries, failures, notes } = await ownGit.run({ tries: rounds(10), seed: 1 });
  expect(failures, notes).toBe(0);
  expect(tries).toBeGreaterThanOrEqual(10);
});
