import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fileCallsIn } from "./file-calls.ts";
import { changesOnDisk } from "./net-changes.ts";

let home: string;
let dir: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-changes-")));
  dir = join(home, "work");
  mkdirSync(dir);
});
afterEach(() => rmSync(home, { recursive: true }));

/** A turn with one call, whose id is the same in every turn. */
function turn(
  name: string,
  args: Record<string, unknown>,
  result: string,
  status: "success" | "error" = "success",
): BaseMessage[] {
  return [
    new AIMessage({ content: "", tool_calls: [{ id: "call_0", name, args }] }),
    new ToolMessage({ tool_call_id: "call_0", name, content: result, status }),
  ];
}

it("a file is the same by its path and its host address, also through a link", async () => {
  symlinkSync(dir, join(home, "link"));
  writeFileSync(join(dir, "a.txt"), "three\n");
  const edit = (file_path: string, old_string: string, new_string: string): BaseMessage[] =>
    turn("edit_file", { file_path, old_string, new_string }, "Edited.");
  const messages = [
    ...edit("/a.txt", "zero", "one"),
    ...edit(join(dir, "a.txt"), "one", "two"),
    ...edit(join(home, "link/a.txt"), "two", "three"),
  ];
  for (const place of [dir, join(home, "link")]) {
    expect(await changesOnDisk(fileCallsIn([messages]), place)).toEqual([
      { path: "/a.txt", before: "zero\n", after: "three\n", isKnown: true },
    ]);
  }
});

it("a call has the result of its own turn when a later call reuses its id", async () => {
  writeFileSync(join(dir, "new.txt"), "new");
  const messages = [
    ...turn("write_file", { file_path: "/new.txt", content: "new" }, "Created /new.txt."),
    ...turn("write_file", { file_path: "/refused.txt", content: "x" }, "Refused.", "error"),
    ...turn("ls", { path: "/" }, "new.txt"),
  ];
  expect(await changesOnDisk(fileCallsIn([messages]), dir)).toEqual([
    { path: "/new.txt", before: null, after: "new", isKnown: true },
  ]);
});
