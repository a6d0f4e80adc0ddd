import { expect, it } from "vitest";
import { races } from "../../../attack/races.ts";

it("a disk backend is not led outside by whoever swaps its folders for links, with descriptors or without", async () => {
  expect(await races.run({ seed: 1, tries: 1200 })).toMatchObject({ failures: 0 });
});
