import { expect, it } from "vitest";
import { ConsentRules } from "./rules.ts";

it("an exact rule beats a prefix rule, and a longer prefix beats a shorter one", () => {
  const when = () => true;
  const some = { allowedDecisions: ["approve" as const], when };
  const rules = new ConsentRules({
    "mcp__*": true,
    "mcp__a__*": some,
    mcp__a__read: false,
    "mcp__b__*": false,
  });
  expect(rules.get("mcp__c__x")?.allowedDecisions).toEqual(["approve", "edit", "reject"]);
  expect(rules.get("mcp__a__write")).toBe(some);
  expect(rules.has("mcp__a__read")).toBe(false);
  expect(rules.has("mcp__b__x")).toBe(false);
  expect(rules.has("write_file")).toBe(false);
});
