import { expect, it } from "vitest";
import { paths } from "../../../attack/paths.ts";

it("no file tool is led outside, past a rule or into an exception by a path", async () => {
  const { tries, failures, notes } = await paths.run({ seed: 1, tries: 1500 });
  expect({ tries, failures }, notes).toEqual({ tries: 1500, failures: 0 });
  expect(notes).toMatch(/[1-9]\d* calls refused/);
});
