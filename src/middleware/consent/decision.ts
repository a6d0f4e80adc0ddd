import type { ToolCall } from "@langchain/core/messages";
import { decisionList, parseDecision, type Decision } from "../../decision.ts";
import { show } from "../../plan/read/index.ts";
import { argumentsProblem } from "../tools/index.ts";
import type { ConsentRule } from "./options.ts";

/** The user's decision about a call. `edit` has the arguments to make it with. */
export type ConsentDecision =
  | { type: "approve" }
  | { type: "edit"; args: Record<string, unknown> }
  | { type: "reject"; message?: string };

/** A parsed decision; some UIs send `respond` instead of a refusal with a reason. */
export type ReadDecision = (ConsentDecision | { type: "respond"; message: string }) & { by?: string };

export type Reading = { decision: ReadDecision } | { error: string; isMiscounted?: boolean };

export interface Reviewed {
  call: ToolCall;
  tool: unknown;
  rule: ConsentRule;
  /** The calls of the turn that wait for consent, and the index of this one among them. */
  asking: readonly ToolCall[];
  at: number;
  /** The calls that have not run yet. */
  open: readonly ToolCall[];
}

/** Parses the answer about a call: a decision, or a list with one for each call that waits for consent. */
export async function readDecision(answer: unknown, reviewed: Reviewed): Promise<Reading> {
  const { call, rule, asking, at, open } = reviewed;
  const list = decisionList(answer);
  // A list has a decision for each call of the turn that asks, for each that is still open, or for this one.
  const indexByLength = new Map([
    [1, 0],
    [open.length, open.indexOf(call)],
    [asking.length, at],
  ]);
  const index = list ? indexByLength.get(list.length) : 0;
  if (index === undefined) return miscounted(answer, open);
  const decision = parseDecision(list ? list[index] : answer);
  const allowed: readonly string[] = rule.allowedDecisions;
  if (!decision) return { error: `${ways(allowed)}; got ${show(answer)}.` };
  const { type, by, message } = decision;
  if (!allowed.includes(type === "respond" ? "reject" : type)) {
    return { error: `${type} is not allowed for ${call.name}. ${ways(allowed)}.` };
  }
  switch (type) {
    case "approve":
      return { decision: { type, by } };
    case "edit":
      return readEdit(decision, reviewed);
    case "reject":
      return { decision: { type, by, message } };
    case "respond":
      return message === undefined ? { error: ways(allowed) } : { decision: { type, by, message } };
  }
}

/** The error for an answer whose decisions do not match the open calls, or did not when it first arrived. */
export function miscounted(answer: unknown, open: readonly ToolCall[]): Reading {
  const count = decisionList(answer)?.length ?? 1;
  const names = open.map(({ name }) => name).join(", ");
  const error =
    count === open.length
      ? "The same answer was not taken before, when more calls asked. Answer this question by its interrupt's id."
      : `Give one decision for each call of the turn that asks, in this order: ${names}; got ${count}. Or answer each question by its interrupt's id.`;
  return { error, isMiscounted: true };
}

async function readEdit({ edited, by }: Decision, { call, tool }: Reviewed): Promise<Reading> {
  if (!edited) return { error: 'An edit needs all arguments of the call: {type:"edit",args:{…}}.' };
  if (edited.name !== undefined && edited.name !== call.name) {
    return {
      error: `This is a call to ${call.name}, and only its arguments can be changed. To have ${show(edited.name)} called, reject it and say so.`,
    };
  }
  const problem = await argumentsProblem(tool, edited.args);
  return problem === undefined
    ? { decision: { type: "edit", args: edited.args, by } }
    : { error: `These arguments do not fit ${call.name}: ${problem}` };
}

const FORMS: Record<string, string> = {
  approve: '{type:"approve"}',
  edit: '{type:"edit",args:{…}}',
  reject: '{type:"reject",message}',
};

function ways(allowed: readonly string[]): string {
  return `Resume with ${allowed.map((type) => FORMS[type]).join(" or ")}`;
}
