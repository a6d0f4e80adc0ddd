import { expect, it } from "vitest";
import type { Todo } from "../../plan/index.ts";
import { blindEdit } from "./blind-edit.ts";

const NOW: Todo[] = [
  { id: "1", content: "Dig", status: "completed" },
  { id: "2", content: "Plant", status: "in_progress" },
];

it.each([
  ["by its id", [{ id: "1", content: "Dig deep", status: "pending" }]],
  ["by its words", [{ content: "Dig", status: "in_progress" }]],
  ["that had only begun", [NOW[0], { id: "2", content: "Plant", status: "pending" }]],
])("a list takes back nothing that the agent has done: an item %s", (_, todos) => {
  expect(() => blindEdit(todos, NOW)).toThrow(/was not changed: it has moved on meanwhile/);
});

it("a list that continues the current plan is an edit of that plan", () => {
  const todos = [...NOW, { content: "Water", status: "pending" }];
  expect(blindEdit(todos, NOW)).toEqual({ todos, base: NOW });
  const shorter = ["Rest", { id: "2", content: "Plant", status: "completed" }];
  expect(blindEdit(shorter, NOW)).toEqual({ todos: shorter, base: NOW });
});
