import { describe, expect, it } from "vitest";
import { HarnessError } from "../../errors.ts";
import { questionEvent, readAnswer, readQuestion } from "./index.ts";

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
const consent = { type: "consent", version: 1, owner: "main", name: "execute", args: { command: "ls" } };
const permission = readQuestion({ id: "p", value: consent });

describe("a question of a run", () => {
  it("is read from what interrupted it", () => {
    expect(approval).toMatchObject({ kind: "plan-approval", todos: [{ content: "Dig" }] });
    expect(clarification).toMatchObject({ kind: "clarification", text: "Two fit.\nWhich one?" });
    expect(permission.text).toBe('The agent asks for permission:\nexecute {"command":"ls"}');
    expect(permission).not.toHaveProperty("owner");
  });

  it("names the sub-agent that asks", () => {
    const owner = "main/general-purpose:call_7";
    const question = readQuestion({ id: "p", value: { ...consent, owner, error: "What?" } });
    expect(question.text).toContain("The sub-agent general-purpose asks for permission:");
    expect(question).toMatchObject({ owner, error: "What?" });
  });

  it("is shown even when its kind is unknown", () => {
    expect(readQuestion({ id: "x", value: 7 })).toMatchObject({ kind: "other", text: "The run asks: 7" });
  });
});

describe("a question's event", () => {
  const asked = (args: object) =>
    questionEvent(readQuestion({ id: "p", value: { ...consent, call: "call_1", args } }));

  it("has the call that it is about", () => {
    const call = { owner: "main", call: "call_1", name: "execute", args: { command: "ls" } };
    expect(asked({ command: "ls" })).toMatchObject({ type: "question", id: "p", call });
    expect(asked({ command: "ls" })).not.toHaveProperty("call.cut");
  });

  it("says of a long call that it is cut", () => {
    const event = asked({ command: "x".repeat(50_000), timeout: 5 });
    expect(event).toMatchObject({ call: { cut: true, args: { timeout: 5 } } });
    expect(JSON.stringify((event as { call: unknown }).call).length).toBeLessThan(3000);
    expect((event as { text: string }).text.length).toBeLessThan(21_000);
  });
});

describe("an answer in words", () => {
  it("may be the number of an option", () => {
    expect(readAnswer(clarification, "2")).toBe("b");
    expect(readAnswer(clarification, "3")).toBe("3");
    expect(readAnswer({ ...clarification, options: ["2", "4"] }, "2")).toBe("2");
    expect(readAnswer(permission, "1")).toEqual({ type: "approve" });
  });

  it.each(["approve", "Yes", "y", "ok "])("%s approves", (words) => {
    expect(readAnswer(approval, words)).toEqual({ type: "approve" });
  });

  it("rejects with a reason", () => {
    const rejected = { type: "reject", message: "too long" };
    expect(readAnswer(approval, "reject: too long")).toEqual(rejected);
    expect(readAnswer(approval, "no:too long")).toEqual(rejected);
    expect(readAnswer(approval, "reject")).toEqual({ type: "reject" });
  });

  it("to a permission is a decision about its call", () => {
    expect(readAnswer(permission, "approve")).toEqual({ type: "approve" });
    expect(readAnswer(permission, "no: not now")).toMatchObject({ type: "reject", message: "not now" });
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
    const edit = { type: "edit", args: { command: "ls -l" } };
    expect(readAnswer(permission, JSON.stringify({ decisions: [edit] }))).toEqual(edit);
    expect(readAnswer(permission, '{"type":"approve"}')).toEqual({ type: "approve" });
    expect(readAnswer(approval, '{"type":"edit","todos":[{"content":"Dig"}]}')).toMatchObject({
      type: "edit",
    });
  });

  it.each([
    "maybe",
    "",
    "{broken",
    "[]",
    "{}",
    '{"decisions":[]}',
    '{"decisions":[{"type":"approve"},{"type":"approve"}]}',
    '{"decisions":[{"type":"allow"}]}',
    "approve, but not here",
    "no problem, go on",
  ])("is refused with the valid answers when it reads %j", (words) => {
    const refusal = (): unknown => readAnswer(permission, words);
    expect(refusal).toThrow(HarnessError);
    expect(refusal).toThrow("use approve or reject: reason");
  });

  it("is refused with the line number when its plan has a bad mark", () => {
    expect(() => readAnswer(approval, "- [?] Dig")).toThrow("Line 1");
  });
});
