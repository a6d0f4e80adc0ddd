import { expect, it } from "vitest";
import type { StampedEvent, Thread } from "../client/contract.ts";
import { withProgress } from "./state.ts";

const thread = (id: string): Thread => ({
  id,
  createdAt: 1,
  updatedAt: 1,
  todos: { done: 1, total: 9 },
  status: "running",
});

it("the progress of a thread in the list moves with its plan, and with no other's", () => {
  const counts = { total: 9, pending: 4, in_progress: 1, completed: 3, blocked: 0, cancelled: 1 };
  const change = {
    type: "plan-change",
    version: 1,
    at: 2,
    thread: "a",
    by: "model",
    changes: [],
    counts,
    todos: [],
  };
  const threads = [thread("a"), thread("b")];
  const moved = withProgress(threads, { ...change, owner: "main" } as StampedEvent);
  expect(moved.map(({ todos }) => todos)).toEqual([
    { done: 3, total: 8 },
    { done: 1, total: 9 },
  ]);
  expect(withProgress(threads, { ...change, owner: "main/helper:1" } as StampedEvent)).toBe(threads);
});
