import { expect, it } from "vitest";
import type { RunEvent } from "../../../threads/events/index.ts";
import { transcript } from "../../../threads/log/index.ts";
import { EMPTY_VIEW } from "../../../threads/view/index.ts";
import { plainPaint } from "../output/index.ts";
import { linesOf } from "./lines.ts";

it("an item with only a new figure is not repeated in plain lines or the transcript", () => {
  const actuals = {
    startedAt: 1,
    elapsedMs: 7,
    modelCalls: 1,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
  };
  const todos = [{ id: "1", content: "Dig", status: "in_progress" as const, actuals }];
  const counts = { total: 1, pending: 0, in_progress: 1, completed: 0, blocked: 0, cancelled: 0 };
  const head = { version: 1, at: 0, thread: "t", type: "plan-change", owner: "main", by: "harness" } as const;
  const change = (set: object): RunEvent => ({
    ...head,
    changes: [{ type: "todo-edit", id: "1", set }],
    counts,
    todos,
  });
  const shown = (event: RunEvent) => [
    linesOf(event, EMPTY_VIEW, plainPaint).join("\n"),
    transcript([event]).trim(),
  ];
  expect(shown(change({ actuals }))).toEqual(["", ""]);
  const [line, text] = shown(change({ actuals, content: "Dig" }));
  expect(line).toBe("0/1 [>] 1 Dig");
  expect(text).toContain("Dig");
});
