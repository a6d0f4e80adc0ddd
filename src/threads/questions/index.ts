import type { Interrupt } from "@langchain/langgraph";
import { decisionList, parseDecision } from "../../decision.ts";
import { attempt, HarnessError } from "../../errors.ts";
import type { ConsentRequest } from "../../middleware/consent/index.ts";
import type { PlanApprovalRequest } from "../../middleware/plan/index.ts";
import { REPEAT_TEXTS } from "../../middleware/repeats/index.ts";
import { shortened } from "../../middleware/text/index.ts";
import { parseMarkdown, type MarkdownTodo, type Todo } from "../../plan/index.ts";
import { isRecord } from "../../plan/read/index.ts";
import {
  boundedArgs,
  boundedText,
  MOST_IN_EVENT,
  type RunEvent,
  type RunEventBody,
} from "../events/index.ts";
import { jsonText } from "../json-text/index.ts";
import { MAIN, ownerName } from "../view/index.ts";

type QuestionEvent = Extract<RunEvent, { type: "question" }>;

/** The call that a question is about. */
export type AskedCall = Pick<ConsentRequest, "owner" | "call" | "name" | "args">;

/** A question of a run to the user. */
export interface Question extends Pick<QuestionEvent, "id" | "kind" | "text" | "options"> {
  /** The sub-agent that asks; undefined for the main agent. */
  owner?: string;
  todos?: readonly Todo[];
  rules?: readonly string[];
  call?: AskedCall;
  /** The call was running when an earlier run was stopped. */
  repeated?: true;
  /** Facts for the user besides the arguments. */
  notice?: string;
  /** More about the call, also in `text`: what a stopped command had done, or LangChain's description. */
  remark?: string;
  error?: string;
  /** A review of one call as LangChain's `humanInTheLoopMiddleware` asks for it. */
  review?: LangChainReview;
}

interface LangChainReview {
  actionRequests: readonly [{ name: string; args: Record<string, unknown>; description?: string }];
}

/** Reads the question of an interrupt. */
export function readQuestion({ id, value }: Interrupt): Question {
  const request = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const base = { id: id ?? "" };
  if (request["type"] === "plan-approval") {
    const { error, calls, rules, difference } = request as Partial<PlanApprovalRequest>;
    return {
      ...base,
      kind: "plan-approval",
      text: proposalText(calls ?? [], difference),
      options: ["approve", "edit", "reject"],
      todos: request["todos"] as Todo[],
      ...(rules && { rules }),
      ...(typeof error === "string" && { error }),
    };
  }
  if (request["type"] === "clarification") {
    const { question, context, options } = request as {
      question: string;
      context?: string;
      options?: string[];
    };
    return {
      ...base,
      kind: "clarification",
      text: context ? `${context}\n${question}` : question,
      options: options ?? [],
    };
  }
  if (request["type"] === "consent") {
    const { owner, call, name, args, repeated, ran, notice, error } = value as ConsentRequest;
    const remarks = [repeated && REPEAT_TEXTS.question, repeated && ran, notice].filter(Boolean);
    const isHelper = owner !== MAIN;
    return {
      ...base,
      kind: "permission",
      text: `${isHelper ? `The sub-agent ${ownerName(owner)}` : "The agent"} asks for permission:\n${[`${name} ${jsonText(args)}`, ...remarks].join("\n")}`,
      options: ["approve", "reject"],
      call: { owner, call, name, args },
      ...(repeated && { repeated: true as const }),
      ...(notice !== undefined && { notice }),
      ...(repeated && ran !== undefined && { remark: ran }),
      ...(isHelper && { owner }),
      ...(error !== undefined && { error }),
    };
  }
  if (isReview(request)) {
    const [{ name, args, description = "" }] = request.actionRequests;
    // LangChain's default description has only name and arguments.
    const remark = description.includes(`Tool: ${name}`) ? "" : description;
    return {
      ...base,
      kind: "permission",
      text: `The agent asks for permission:\n${name} ${jsonText(args)}${remark && `\n${remark}`}`,
      options: ["approve", "reject"],
      // LangChain does not tell the id of the call.
      call: { owner: MAIN, call: base.id, name, args },
      ...(remark && { remark }),
      review: request,
    };
  }
  return { ...base, kind: "other", text: `The run asks: ${jsonText(value)}`, options: [] };
}

function isReview(request: object): request is LangChainReview {
  const { actionRequests } = request as { actionRequests?: unknown };
  return Array.isArray(actionRequests) && actionRequests.length === 1;
}

/** The most characters of each call next to a plan. */
const MOST_OF_CALL = 500;

function proposalText(calls: PlanApprovalRequest["calls"], difference: string | undefined): string {
  const proposal =
    difference === undefined
      ? "The agent proposes this plan:"
      : `The agent changes the plan: ${difference}\nIt would be:`;
  if (calls.length === 0) return proposal;
  const lines = calls.map(({ name, args }) => `  ${name} ${shortened(jsonText(args), MOST_OF_CALL)}`);
  return `With the plan you approve these calls:\n${lines.join("\n")}\n${proposal}`;
}

export function questionEvent(asked: Question): RunEventBody {
  const { todos, rules, call, text, remark: _, review: __, ...question } = asked;
  return {
    type: "question",
    ...question,
    text: boundedText(text),
    ...(todos && { todos: [...todos] }),
    ...(rules && { rules: [...rules] }),
    ...(call && { call: boundedCall(call) }),
  };
}

/** Answers as events of their run, by the ids of their questions. */
export function answerEvents(
  answers: Readonly<Record<string, unknown>>,
  questions: readonly Question[],
): RunEventBody[] {
  return Object.entries(answers).map(([id, answer]) => {
    const match = questions.find((question) => question.id === id);
    if (!match) return { type: "answer", id, answer };
    const { kind, call, text } = match;
    const about = { ...(call && { name: call.name }), ...(kind === "clarification" && { text }) };
    return { type: "answer", id, answer, question: { kind, ...about } };
  });
}

function boundedCall({ args, ...call }: NonNullable<Question["call"]>): NonNullable<QuestionEvent["call"]> {
  const json = JSON.stringify(args);
  const isCut = json.length > MOST_IN_EVENT;
  return { ...call, args: boundedArgs(json), ...(isCut && { cut: true as const }) };
}

/**
 * The value to resume with, from words such as `approve` or `reject: too long`, or the number of an option. A plan can be
 * answered with a Markdown list, and everything but a clarification with JSON. Throws `invalid-options` for other answers.
 */
export function readAnswer(question: Question, words: string): unknown {
  const text = optionOf(question, words.trim());
  if (question.kind === "clarification") return text;
  const json = /^[{[]/.test(text) ? attempt((): unknown => JSON.parse(text)) : undefined;
  if (question.kind === "other") return json ?? text;
  const answer = json === undefined ? readWords(question, text) : onlyDecision(json);
  if (answer !== undefined) return answer;
  const valid =
    question.kind === "plan-approval"
      ? "approve, reject: reason, or a Markdown list of the plan"
      : "approve or reject: reason";
  throw new HarnessError(
    "invalid-options",
    `The answer ${JSON.stringify(text)} is not understood; use ${valid}.`,
  );
}

/** The option of a number; any other text stays as it is. */
function optionOf({ options }: Question, text: string): string {
  const option = /^[1-9]\d?$/.test(text) && !options.includes(text) ? options[Number(text) - 1] : undefined;
  return option ?? text;
}

/** Reads only whole answers: "approve, but …" is no approval, and "no problem" no refusal. */
function readWords(question: Question, text: string): unknown {
  if (/^(?:approve|yes|y|ok)[.!]?$/i.test(text)) return { type: "approve" };
  const [refusal, reason = ""] = /^(?:reject|no|n)(?:\s*:\s*([\s\S]*))?$/i.exec(text) ?? [];
  if (refusal !== undefined) return { type: "reject", message: reason || undefined };
  const isPlan = question.kind === "plan-approval" && /^[ \t]*[-*+] \[/m.test(text);
  return isPlan ? editedPlan(text) : undefined;
}

/** One decision, alone or as the only one of a list. */
function onlyDecision(json: unknown): unknown {
  const [one, ...others] = decisionList(json) ?? [json];
  return others.length === 0 && isRecord(one) && parseDecision(one) ? one : undefined;
}

/** The decision `edit` from a Markdown task list. Throws `invalid-plan`. */
export function editedPlan(markdown: string): { type: "edit"; todos: MarkdownTodo[] } {
  const result = parseMarkdown(markdown);
  if (result.ok) return { type: "edit", todos: result.todos };
  throw new HarnessError("invalid-plan", result.issues.map(({ message }) => message).join(" "));
}
