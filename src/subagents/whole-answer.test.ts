import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { BUDGET_REASON } from "../middleware/plan/index.ts";
import { wholeAnswer } from "./whole-answer.ts";

const LONG = "Two holes were dug, one in front of the house and one behind it.";

function said(content: string, ...tools: string[]): BaseMessage[] {
  const calls = tools.map((name) => ({ id: `${content} ${name}`, name, args: {} }));
  const results = calls.map(({ id }) => new ToolMessage({ content: "ok", tool_call_id: id }));
  return [new AIMessage({ content, tool_calls: calls }), ...results];
}

const limit = new AIMessage({ content: "Stopped.", response_metadata: { finish_reason: BUDGET_REASON } });

it.each<[string, BaseMessage[], string]>([
  [
    "a report beside a plan call, and a courtesy",
    [...said(LONG, "update_todos"), ...said("Done.")],
    `${LONG}\n\nDone.`,
  ],
  [
    "words beside work and a plan call",
    [...said(LONG, "update_todos", "edit_file"), ...said("Done.")],
    "Done.",
  ],
  ["an empty last message", [...said(LONG, "update_todos"), ...said("")], LONG],
  ["a last message that calls a tool", [...said(LONG, "write_todos"), ...said("", "ask_clarification")], ""],
  ["a limit", [...said(LONG, "write_todos"), limit], "Stopped."],
  ["an answer before the user's message", [...said(LONG), new HumanMessage("And?"), ...said("Yes.")], "Yes."],
  [
    "a message of another agent at the end",
    [...said(LONG), new HumanMessage({ content: LONG, name: "b" })],
    LONG,
  ],
  ["nothing", [new HumanMessage("Go")], ""],
])("the whole answer of %s", (_, messages, whole) => {
  expect(wholeAnswer(messages)).toBe(whole);
});
