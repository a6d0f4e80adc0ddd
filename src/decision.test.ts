import { expect, it } from "vitest";
import { decisionList, parseDecision, signedBy } from "./decision.ts";

it.each([
  [true, { type: "approve" }],
  [false, { type: "reject" }],
  [" accept ", { type: "approve" }],
  [{ decision: "ignore" }, { type: "reject" }],
  [
    { type: "reject", reason: " too long " },
    { type: "reject", message: "too long" },
  ],
  [
    { type: "reject", message: "too long", by: "ann" },
    { type: "reject", message: "too long", by: "ann" },
  ],
  [
    { type: "response", args: "use b.txt" },
    { type: "respond", message: "use b.txt" },
  ],
  [
    { type: "edit", args: { path: "/a" } },
    { type: "edit", edited: { args: { path: "/a" } } },
  ],
  [
    { type: "edit", editedAction: { name: "ls", args: { path: "/a" } } },
    { type: "edit", edited: { name: "ls", args: { path: "/a" } } },
  ],
  [
    { type: "edit", edited_action: { name: "ls", args: {} } },
    { type: "edit", edited: { name: "ls", args: {} } },
  ],
  [
    { type: "edit", args: { action: "ls", args: { path: "/a" } } },
    { type: "edit", edited: { name: "ls", args: { path: "/a" } } },
  ],
  [
    { type: "edit", todos: [{ content: "A" }] },
    { type: "edit", edited: { args: { todos: [{ content: "A" }] } } },
  ],
])("reads %j as a decision", (sent, decision) => {
  expect(parseDecision(sent)).toEqual(decision);
});

it.each(["approve, but later", "", 1, null, {}, { type: "toString" }, ["approve"]])(
  "reads no decision in %j",
  (sent) => {
    expect(parseDecision(sent)).toBeUndefined();
  },
);

it("finds the decisions of several calls in both forms that clients send", () => {
  expect(decisionList({ decisions: [{ type: "approve" }] })).toEqual([{ type: "approve" }]);
  expect(decisionList(["approve"])).toEqual(["approve"]);
  expect(decisionList({ type: "approve" })).toBeUndefined();
});

it("replaces the name that a client sent by the user's", () => {
  expect(signedBy({ type: "reject", by: "boss" }, "ann")).toEqual({ type: "reject", by: "ann" });
  expect(signedBy({ decisions: [{ type: "approve" }] }, "ann")).toEqual({
    decisions: [{ type: "approve", by: "ann" }],
  });
  expect(signedBy("blue", "ann")).toBe("blue");
});
