import { describe, expect, it } from "vitest";
import { fieldValue, shownArguments } from "./arguments.ts";
import { lineDiff, type Hunk } from "./line-diff.ts";
import { ago, amount, changeWords, dollars, duration, inSight, sentBackWords } from "./words.ts";

const countLines = (hunks: readonly Hunk[]) => {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (kind: string): number => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
};

describe("texts for the user", () => {
  it("say times, amounts and costs briefly", () => {
    expect([400, 8000, 60_000, 200_000, 7_500_000, 200 * 3_600_000].map(duration)).toEqual([
      "0 s",
      "8 s",
      "1 min",
      "3 min 20 s",
      "2 h 5 min",
      "8 days",
    ]);
    expect([30_000, 300_000, 10_800_000, 86_400_000, 172_800_000].map((ms) => ago(0, ms))).toEqual([
      "now",
      "5 min",
      "3 h",
      "1 day",
      "2 days",
    ]);
    expect([940, 12_340, 99_960, 999_700].map(amount)).toEqual(["940", "12.3k", "100k", "1.0M"]);
    expect([0.0123, 1.5].map(dollars)).toEqual(["$0.0123", "$1.50"]);
  });

  it("make invisible characters visible", () => {
    expect(inSight("rm \u202Efdp.exe\u200B\u0007")).toBe("rm \\u{202e}fdp.exe\\u{200b}\\u{0007}");
    expect(inSight("line\n\ttab 👩‍💻")).toBe("line\n\ttab 👩‍💻");
  });

  it("say what changed in a plan", () => {
    const todos = [{ id: "1", content: "Look", status: "completed" as const }];
    expect(
      changeWords({
        changes: [{ type: "todo-status", id: "1", from: "in_progress", to: "completed" }],
        names: { 1: "Look" },
      }),
    ).toBe("completed “Look”");
    expect(changeWords({ changes: [{ type: "todo-add", todo: todos[0]!, index: 0 }], names: {} })).toBe(
      "added an item",
    );
    expect(
      changeWords({ changes: [{ type: "todo-edit", id: "1", set: { estimate: 3 } }], names: {} }),
    ).toBeUndefined();
  });
});

describe("the preview of a call", () => {
  it("is shown as a command, a file, a difference, or its fields", () => {
    expect(shownArguments("execute", { command: "ls", timeout: 5 })).toEqual({
      type: "command",
      command: "ls",
      rest: [["timeout", "5"]],
    });
    expect(shownArguments("write_file", { file_path: "/a", content: "x" })).toEqual({
      type: "write",
      path: "/a",
      content: "x",
    });
    expect(shownArguments("edit_file", { file_path: "/a", old_string: "x", new_string: "y" })).toMatchObject({
      type: "edit",
      edits: [{ before: "x", after: "y", isEverywhere: false }],
    });
    const edits = [
      { old_string: "x", new_string: "y" },
      { old_string: "a", new_string: "b", replace_all: true },
    ];
    const several = { file_path: "/a", old_string: "1", new_string: "2", edits };
    expect(shownArguments("edit_file", several)).toEqual({
      type: "edit",
      path: "/a",
      edits: [
        { before: "1", after: "2", isEverywhere: false },
        { before: "x", after: "y", isEverywhere: false },
        { before: "a", after: "b", isEverywhere: true },
      ],
    });
    expect(shownArguments("other", { a: { b: 1 } })).toEqual({
      type: "fields",
      fields: [["a", '{\n  "b": 1\n}']],
    });
  });

  it("hides no argument that it does not know", () => {
    expect(shownArguments("write_file", { file_path: "/a", content: "x", mode: "0777" }).type).toBe("fields");
    for (const args of [
      { old_string: 1, new_string: "y" },
      { old_string: "x", new_string: "y", mode: "0777" },
      { edits: [{ old_string: "x", new_string: "y", mode: "0777" }] },
      { edits: [{ old_string: "x", new_string: "y" }, null] },
      { edits: "x" },
      { edits: [] },
    ])
      expect(shownArguments("edit_file", { file_path: "/a", ...args }).type).toBe("fields");
  });

  it("is edited as text where it was text, and as JSON elsewhere", () => {
    expect(fieldValue("5", "x")).toBe("5");
    expect(fieldValue("5", 4)).toBe(5);
    expect(() => fieldValue("five", 4)).toThrow(SyntaxError);
  });
});

describe("the difference of two texts", () => {
  it("has the lines that changed with their numbers", () => {
    const hunks = lineDiff("a\nb\nc\n", "a\nB\nc\nd\n")!;
    expect(hunks[0]!.lines).toEqual([
      { kind: "same", text: "a", before: 1, after: 1 },
      { kind: "removed", text: "b", before: 2 },
      { kind: "added", text: "B", after: 2 },
      { kind: "same", text: "c", before: 3, after: 3 },
      { kind: "added", text: "d", after: 4 },
    ]);
    expect(countLines(hunks)).toEqual({ added: 2, removed: 1 });
  });

  it("is the whole of a new or deleted text, of any length", () => {
    const long = "a\n".repeat(9000);
    expect(countLines(lineDiff("", long)!)).toEqual({ added: 9000, removed: 0 });
    expect(countLines(lineDiff(long, "")!)).toEqual({ added: 0, removed: 9000 });
    expect(lineDiff("", "")).toEqual([]);
  });

  it("is none of texts that differ too much to be compared", () => {
    const lines = (word: string) => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join("\n");
    expect(lineDiff(lines("a"), lines("b"))).toBeUndefined();
  });
});

it("an answer returned to the model has the reason next to it", () => {
  const start = { type: "model-start", owner: "main", call: "1", at: 0 } as never as Parameters<
    typeof sentBackWords
  >[0];
  const words = [["todo_completion_reminder"], ["goal_reminder"], ["todo_stale_reminder"]].map((reminders) =>
    sentBackWords({ ...start, reminders }),
  );
  expect(words).toEqual([
    "Holdfast returned the answer: items of the plan are still open.",
    "Holdfast returned the answer: the goal is not met.",
    undefined,
  ]);
});
