import { expect, it } from "vitest";
import { lastLines } from "./command-output.ts";

it("the last lines of a command's output are those that a terminal would show last", () => {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  expect(lastLines(lines.join("\n"))).toBe(lines.slice(-8).join("\n"));
  expect(lastLines("a\r\n10%\r20%\r30%\n")).toBe("a\n30%");
  expect(lastLines("\n \n")).toBe("");
  expect(lastLines("x".repeat(100_000))).toHaveLength(1000);
});
