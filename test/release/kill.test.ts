import { expect, it } from "vitest";
import { kills } from "../../attack/kills.ts";
import { rounds } from "../helpers/runner/rounds.ts";

it("kill -9 at random moments, each followed by resume, changes nothing in the end", async () => {
  const { tries, failures, notes } = await kills.run({ tries: rounds(12), seed: 20_261_115 });
  expect(tries).toBeGreaterThanOrEqual(rounds(12));
  expect(failures, notes).toBe(0);
});
