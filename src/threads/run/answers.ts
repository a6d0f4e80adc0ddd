import type { Interrupt, StateSnapshot } from "@langchain/langgraph";
import { decisionList, parseDecision, type Decision } from "../../decision.ts";
import { HarnessError } from "../../errors.ts";
import { isRecord } from "../../plan/read/index.ts";

/** The open interrupts of a thread, in the order of the calls that ask. */
export function waitingOf({ tasks }: StateSnapshot): Interrupt[] {
  return tasks.flatMap(({ interrupts }) => interrupts);
}

/**
 * Answers by the ids of their interrupts, from any form that clients send: a bare answer would drop a plan edit that was
 * made meanwhile. Undefined if nothing waits: LangGraph would give the answer to the next question, which no one has seen.
 * Throws `invalid-request` for answers that the waiting calls cannot take: LangChain's own middleware would keep them in
 * the thread and fail on them permanently.
 */
export function answersById(
  resume: unknown,
  waiting: readonly Interrupt[],
): Record<string, unknown> | undefined {
  const byId = answersWithIds(resume, waiting) ?? answersInOrder(resume, waiting);
  if (!byId) return undefined;
  const answers = Object.entries(byId).map(([id, answer]) => {
    const { value } = waiting.find((one) => one.id === id)!;
    return [id, decisionsFor(value, answer)] as const;
  });
  return Object.fromEntries(answers);
}

/** Answers that have ids. Each must be for an interrupt that waits. */
function answersWithIds(resume: unknown, waiting: readonly Interrupt[]): Record<string, unknown> | undefined {
  if (!isKeyed(resume)) return undefined;
  const ids = Object.keys(resume);
  const closed = ids.find((id) => !waiting.some((one) => one.id === id));
  if (closed !== undefined) refuse(`The question ${closed} is no longer open.`);
  return resume;
}

/** Whether answers are keyed by interrupt ids. */
export function isKeyed(resume: unknown): resume is Record<string, unknown> {
  const ids = isRecord(resume) ? Object.keys(resume) : [];
  return ids.length > 0 && ids.every((id) => INTERRUPT_ID.test(id));
}

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** Answers without ids: one for the only question, or a list with a decision for each call that asks. */
function answersInOrder(resume: unknown, waiting: readonly Interrupt[]): Record<string, unknown> | undefined {
  const [only, ...others] = waiting;
  if (!only) return undefined;
  if (others.length === 0) return { [only.id!]: resume };
  const decisions = decisionList(resume);
  const names = waiting.map(({ value }) => callsOf(value)?.map(nameOf) ?? ["a question"]);
  const count = names.flat().length;
  if (decisions?.length !== count) {
    refuse(
      `${count} answers are needed, one for each of ${names.flat().join(", ")}; got ${decisions?.length ?? 1}. Or answer each by its interrupt's id.`,
    );
  }
  let at = 0;
  return Object.fromEntries(
    waiting.map(({ id }, index) => {
      const own = decisions.slice(at, (at += names[index]!.length));
      return [id!, { decisions: own }];
    }),
  );
}

/** An answer to a review of calls, with camel-case fields. Other answers stay as they are. Throws `invalid-request`. */
export function decisionsFor(request: unknown, answer: unknown): unknown {
  const calls = callsOf(request);
  if (!calls) return answer;
  const list = decisionList(answer) ?? [answer];
  const names = calls.map(nameOf).join(", ");
  if (list.length !== calls.length) {
    refuse(`${calls.length} decisions are needed, one for each of ${names}; got ${list.length}.`);
  }
  const bad = list.find((decision) => !isRecord(decision) || !parseDecision(decision));
  if (bad !== undefined) {
    refuse(`A decision about ${names} is approve, edit, reject or respond; got ${JSON.stringify(bad)}.`);
  }
  // Our own middleware parses any form.
  if (OURS.includes((request as { type?: unknown }).type)) return answer;
  return { decisions: list.map((decision, at) => forLangChain(parseDecision(decision)!, nameOf(calls[at]))) };
}

const OURS: unknown[] = ["consent", "plan-approval"];

function callsOf(request: unknown): unknown[] | undefined {
  if (!isRecord(request)) return undefined;
  const calls = request["actionRequests"] ?? request["action_requests"];
  return Array.isArray(calls) && calls.length > 0 ? (calls as unknown[]) : undefined;
}

/** A decision as LangChain's own middleware reads it. */
function forLangChain({ type, by, message, edited }: Decision, name: string): object {
  const editedAction = edited && { name: edited.name ?? name, args: edited.args };
  return { type, by, message, editedAction };
}

function nameOf(call: unknown): string {
  const name = isRecord(call) ? (call["name"] ?? call["action"]) : undefined;
  return typeof name === "string" ? name : "a call";
}

function refuse(message: string): never {
  throw new HarnessError("invalid-request", message);
}
