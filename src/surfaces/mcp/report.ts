import type { CallToolResult } from "@modelcontextprotocol/server";
import { countTodos } from "../../plan/index.ts";
import { planText } from "../../threads/plan/plan-text.ts";
import type { Report } from "./threads.ts";
import { REPORT_TEXTS } from "./tools.prompt.ts";

/** A thread's result as words and data. */
export function reportResult(report: Report, { hasPlan = false } = {}): CallToolResult {
  const { thread, state, todos, rules, answer, questions, files, error } = report;
  const { completed, cancelled, total } = countTodos([...todos]);
  const progress = total > 0 ? `, ${completed + cancelled} of ${total} items closed` : "";
  const asked = questions.map(({ id, text, todos: plan, rules: terms }) =>
    [`It asks (question ${id}): ${text}`, ...(plan ? [planText(plan, terms)] : [])].join("\n"),
  );
  const isOpen = state !== "done" && state !== "failed";
  const parts = [
    `Thread ${thread}: ${state}${progress}.`,
    ...(hasPlan && total > 0 ? [planText(todos, rules)] : []),
    ...(error === undefined ? [] : [error]),
    ...(answer === "" || state === "running" ? [] : [answer]),
    ...(files.length > 0 ? [`Files in the thread: ${files.join(", ")}`] : []),
    ...asked,
    ...(isOpen ? [REPORT_TEXTS[state]] : []),
  ];
  return {
    content: [{ type: "text", text: parts.join("\n\n") }],
    structuredContent: {
      thread,
      state,
      answer,
      files,
      plan: todos.map(({ id, content, status }) => ({ id, content, status })),
      ...(rules.length > 0 && { rules: [...rules] }),
      questions: questions.map(({ id, kind, text, options }) => ({ id, kind, text, options: [...options] })),
      ...(error !== undefined && { error }),
    },
    ...(state === "failed" && { isError: true }),
  };
}
