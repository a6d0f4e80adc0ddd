import { expect, it } from "vitest";
import { races } from "../../../attack/races.ts";

it("a disk backend stays in its root while a program swaps its folders for links", async () => {
  const { tries, failures, notes } = await races.run({ seed: 1, tries: 1200 });
  expect({ tries, failures }, notes).toEqual({ tries: 1200, failures: 0 });
  expect(notes).toMatch(/[1-9]\d* refused/);
});
