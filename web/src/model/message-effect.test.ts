import { expect, it } from "vitest";
import type { Question } from "../client/contract.ts";
import { answersWith, messageEffect } from "./message-effect.ts";

const question = (id: string, kind: Question["kind"]): Question => ({ id, kind, text: "", options: [] });

it.each([
  ["clarification", "answer"],
  ["other", "answer"],
  ["permission", "reject"],
  ["plan-approval", "reject"],
] as const)("a message while a %s is open has the effect: %s", (kind, type) => {
  expect(messageEffect([question("q", kind)], {})).toEqual({ type, id: "q" });
});

it("a message is a task only while no question is open", () => {
  expect(messageEffect([], {})).toEqual({ type: "task" });
});

it("a message belongs to the last undecided question, and is sent with the decisions", () => {
  const questions = [question("a", "permission"), question("b", "clarification")];
  expect(messageEffect(questions, {})).toEqual({ type: "none" });
  const decided = { a: { type: "approve" } } as const;
  expect(messageEffect(questions, decided)).toEqual({ type: "answer", id: "b" });
  expect(answersWith("Both", { type: "answer", id: "b" }, decided)).toEqual({ ...decided, b: "Both" });
  const all = { ...decided, b: "Both" };
  expect(messageEffect(questions, all)).toEqual({ type: "none" });
});

it("a rejection carries the message as its reason", () => {
  expect(answersWith("Too short", { type: "reject", id: "a" }, {})).toEqual({
    a: { type: "reject", message: "Too short" },
  });
});
