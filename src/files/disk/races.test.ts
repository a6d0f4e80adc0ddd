import { expect, it } from "vitest";
import { races } from "../../../attack/races.ts";

it("a disk backend is not led outside by whoever swaps its folders for links, with descriptors or without", async () => {
  const { tries, failures, notes } = await races.run({ seed: 1, tries: 1200 });
  expect({ tries, failures }, notes).toEqual({ tries: 1200, failures: 0 });
  expect(notes).toMatch(/[1-9]\d* refused/);
});
