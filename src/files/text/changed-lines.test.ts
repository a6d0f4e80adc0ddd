import { expect, it } from "vitest";
import { changedRegions } from "./changed-lines.ts";

it("a changed part is shown whole, unless it is long enough to shorten", () => {
  const added = (count: number): string =>
    Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");
  expect(changedRegions("", added(19))!.split("\n")).toHaveLength(19);
  const long = changedRegions("", added(20))!.split("\n");
  expect(long).toHaveLength(17);
  expect(long[8]).toBe("   ... 4 more as you gave them");
});
