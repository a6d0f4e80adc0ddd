import { expect, it } from "vitest";
import { plainPaint } from "../output/index.ts";
import { callLines } from "./call-lines.ts";

it("only a completed edit counts lines", () => {
  const args = { file_path: "/a.ts", old_string: "one", new_string: "two\nthree" };
  const call = { owner: "main", call: "c", name: "edit_file", about: "/a.ts", args } as const;
  const edit = { ...call, type: "tool-end", version: 1, at: 0, thread: "t" } as const;
  expect(callLines({ ...edit, ok: true, result: "Edited /a.ts." }, plainPaint)).toEqual([
    "✓ edit a.ts +2 −1",
  ]);
  const failed = { ...edit, ok: false, result: "The text to replace was not found." };
  expect(callLines(failed, plainPaint)).toEqual(["✗ edit a.ts The text to replace was not found."]);
});
