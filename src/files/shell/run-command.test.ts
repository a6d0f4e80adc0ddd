import { expect, it } from "vitest";
import { processIn } from "./run-command.ts";

it.each([
  ["42 (sh) S 1 42 42 0", { program: "sh", state: "S", group: 42 }],
  ["42 (a (b) c) R 1 7 7 0", { program: "a (b) c", state: "R", group: 7 }],
  ["42 ((x)) ) Z 1 7 7 0", { program: "(x)) ", state: "Z", group: 7 }],
  ["42 (a\nb) S 1 7 7 0", { program: "a\nb", state: "S", group: 7 }],
  ["", undefined],
  ["42 (sh", undefined],
])("the status %j is read as %o", (status, found) => {
  expect(processIn(status)).toEqual(found);
});

it("reads a name of any length in one pass", () => {
  // A pattern that tries each parenthesis would take hours.
  const name = "(".repeat(5_000_000);
  expect(processIn(`42 (${name}`)).toBeUndefined();
  expect(processIn(`42 (${name}) S 1 7 7 0)`)?.program).toHaveLength(name.length);
});
