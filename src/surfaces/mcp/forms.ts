import type { ElicitInputParams, InputRequest } from "@modelcontextprotocol/server";
import { planText } from "../../threads/plan/index.ts";
import type { Question } from "../../threads/questions/index.ts";

/** Forms for questions, by question id. */
export function questionForms(
  questions: readonly Question[],
  form: (params: ElicitInputParams) => InputRequest,
): Record<string, InputRequest> {
  return Object.fromEntries(questions.map((question) => [question.id, form(formOf(question))]));
}

function formOf({ kind, text, error, options, todos, rules }: Question): ElicitInputParams {
  const message = [
    text,
    ...(todos ? [planText(todos, rules)] : []),
    ...(error === undefined ? [] : [error]),
  ].join("\n");
  const isDecision = kind === "plan-approval" || kind === "permission";
  if (isDecision) {
    return {
      message,
      requestedSchema: {
        type: "object",
        properties: {
          decision: { type: "string", title: "Decision", enum: ["approve", "reject"] },
          reason: { type: "string", title: "Why not" },
        },
        required: ["decision"],
      },
    };
  }
  const hint = options.length > 0 ? { description: `${options.join(", ")}, or something else` } : {};
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: { answer: { type: "string", title: "Answer", ...hint } },
      required: ["answer"],
    },
  };
}

/** The answers in some forms as text, by question id; undefined if no form was filled in. */
export function answersIn(
  responses: Readonly<Record<string, unknown>> = {},
): Record<string, string> | undefined {
  const answers = Object.entries(responses).flatMap(([id, response]) => {
    const { action, content } = (response ?? {}) as {
      action?: unknown;
      content?: { answer?: unknown; decision?: unknown; reason?: unknown };
    };
    if (action !== "accept" || !content) return [];
    const { answer, decision, reason } = content;
    if (typeof answer === "string") return [[id, answer] as const];
    if (decision === "approve") return [[id, "approve"] as const];
    return [[id, typeof reason === "string" && reason.trim() ? `reject: ${reason}` : "reject"] as const];
  });
  return answers.length > 0 ? Object.fromEntries(answers) : undefined;
}
