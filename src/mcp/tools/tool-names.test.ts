import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { toolName } from "./tool-names.ts";

describe("the name of a server's tool", () => {
  it("is mcp__server__tool", () => {
    expect(toolName("github", "create_issue")).toBe("mcp__github__create_issue");
  });

  it("is valid for providers and unique for each tool, for any names", () => {
    const word = fc.oneof(fc.string(), fc.stringMatching(/^[a-b_.]{1,6}$/), fc.stringMatching(/^a{50,90}$/));
    const check = (first: [string, string], second: [string, string]): void => {
      const [a, b] = [toolName(...first), toolName(...second)];
      expect(a).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const isSame = first[0] === second[0] && first[1] === second[1];
      expect(a === b).toBe(isSame);
      expect(toolName(...first)).toBe(a);
    };
    fc.assert(fc.property(fc.tuple(word, word), fc.tuple(word, word), check), { numRuns: rounds(5000) });
  });
});
