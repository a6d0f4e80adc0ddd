import { describe, expect, it } from "vitest";
import { HarnessError } from "../errors.ts";
import { readAnswer, readQuestion } from "./questions.ts";

const approval = readQuestion({
  id: "a",
  value: { type: "plan-approval", version: 1, todos: [{ id: "1", content: "Dig", status: "pending" }] },
});
const clarification = readQuestion({
  id: "c",
  value: {
    type: "clarification",
    version: 1,
    question: "Which one?",
    context: "Two fit.",
    options: ["a", "b"],
  },
});
const permission = readQuestion({
  id: "p",
  value: {
    action_requests: [
      { name: "execute", args: { command: "ls" } },
      { name: "write_file", args: { file_path: "/a" } },
    ],
  },
});

describe("a question of a run", () => {
  it("is read from what interrupted it", () => {
    expect(approval).toMatchObject({ kind: "plan-approval", todos: [{ content: "Dig" }] });
    expect(clarification).toMatchObject({ kind: "clarification", text: "Two fit.\nWhich one?" });
    expect(permission.text).toContain('execute {"command":"ls"}');
  });

  it("of a kind that nobody knows is still shown", () => {
    expect(readQuestion({ id: "x", value: 7 })).toMatchObject({ kind: "other", text: "The run asks: 7" });
  });
});

describe("an answer in words", () => {
  it.each(["approve", "Yes", "y", "ok "])("%s approves", (words) => {
    expect(readAnswer(approval, words)).toEqual({ type: "approve" });
  });

  it("rejects with a reason", () => {
    const rejected = { type: "reject", reason: "too long", message: "too long" };
    expect(readAnswer(approval, "reject: too long")).toEqual(rejected);
    expect(readAnswer(approval, "no:too long")).toEqual(rejected);
    expect(readAnswer(approval, "reject")).toEqual({ type: "reject" });
  });

  it("to a permission is given for each of its calls", () => {
    expect(readAnswer(permission, "approve")).toEqual({
      decisions: [{ type: "approve" }, { type: "approve" }],
    });
  });

  it("may be a plan as Markdown", () => {
    expect(readAnswer(approval, "- [ ] #1: Dig\n- [ ] Plant")).toEqual({
      type: "edit",
      todos: [
        { id: "1", content: "Dig", status: "pending" },
        { content: "Plant", status: "pending" },
      ],
    });
  });

  it("to a clarification is taken as it is", () => {
    expect(readAnswer(clarification, "no, neither")).toBe("no, neither");
    expect(readAnswer(clarification, '{"x":1}')).toBe('{"x":1}');
  });

  it("may be JSON where a decision is expected", () => {
    const both = { decisions: [{ type: "approve" }, { type: "reject", message: "no" }] };
    expect(readAnswer(permission, JSON.stringify(both))).toEqual(both);
    const approved = { decisions: [{ type: "approve" }, { type: "approve" }] };
    expect(readAnswer(permission, '{"type":"approve"}')).toEqual(approved);
    expect(readAnswer(approval, '{"type":"edit","todos":[{"content":"Dig"}]}')).toMatchObject({
      type: "edit",
    });
  });

  // LangChain keeps a resume value for good, also one that it cannot read.
  it.each([
    "maybe",
    "",
    "{broken",
    "[]",
    "{}",
    '{"decisions":[]}',
    '{"decisions":[{"type":"approve"},{"type":"approve"},{"type":"approve"}]}',
    '{"decisions":[{"type":"allow"}]}',
    "approve, but not here",
    "no problem, go on",
  ])("%j is refused with what is valid", (words) => {
    const refusal = (): unknown => readAnswer(permission, words);
    expect(refusal).toThrow(HarnessError);
    expect(refusal).toThrow("use approve or reject: reason");
  });

  it("with a bad mark in its plan is refused with the line", () => {
    expect(() => readAnswer(approval, "- [?] Dig")).toThrow("Line 1");
  });
});
