import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { markOf } from "../../../marks.ts";
import { applyUpdate, type Change, type Figures, type Issue, type Todo } from "../../../plan/index.ts";
import { actionable, withFigures, type Ledger, own } from "../../../plan/todo/index.ts";
import { lastTurn } from "../../tools/index.ts";
import { settleTurn } from "../ledger.ts";
import { asksBack } from "../messages/final-answer.ts";
import { reportsIn } from "../messages/inline-argument.ts";
import { hasPlanned } from "../model-call/run.ts";
import { isForAnswer } from "../plan-call/item-words.ts";
import { changedEntries } from "../plan-call/turn.ts";
import { verifyCompletions } from "../plan-call/verify.ts";
import { rememberSeen } from "../seen.ts";
import type { PlanSetup } from "../setup.ts";
import { planFrom, type MemoryUpdate, type PlanState } from "../state.ts";

/** A clean final answer, with its context. */
export interface Answered {
  answer: AIMessage;
  plan: PlanState;
  /** The spending, including the answer. */
  tally: Figures;
  /** The conversation in the graph state, without the answer. */
  messages: readonly BaseMessage[];
  /** The whole graph state. */
  state: Readonly<Record<string, unknown>>;
  signal: AbortSignal | undefined;
}

/** The effect of an answer on the item that is left. */
export type Completion = ({ ok: true } & PlanEffect) | { ok: false; issues: Issue[] };

/** The effect of an answer, or of the reports in it, on the plan. */
export interface PlanEffect {
  changes: Change[];
  todos: readonly Todo[];
  /** The ledger, with the answer or before it. */
  ledger: Ledger;
  memory: MemoryUpdate;
}

/**
 * Completes the only item that is left as if the model had reported it: by the rules, verified, with figures. Undefined
 * if the answer completes no item; then the exit reminder decides.
 */
export async function completeByAnswer(
  setup: PlanSetup,
  answered: Answered,
): Promise<Completion | undefined> {
  const { policy } = setup.preset;
  const item = policy.finalAnswer === "complete" ? itemBehind(setup, answered) : undefined;
  if (!item) return undefined;
  const { plan, tally } = answered;
  const { marks, seen } = plan.memory;
  const done = applyUpdate(planFrom(plan), { done: item.id }, policy);
  if (!done.ok) return { ok: false, issues: done.issues };
  const { messages, state, signal, answer } = answered;
  // The answer is the last message for the verifier, like a message with a plan call.
  const conversation = [...messages, answer];
  const { issues } = await verifyCompletions(setup, {
    changes: done.changes,
    before: plan.todos,
    todos: done.plan.todos,
    memory: plan.memory,
    toolCalls: tally.toolCalls,
    messages: conversation,
    state: { ...state, messages: conversation },
    signal,
  });
  if (issues.length > 0) return { ok: false, issues };
  const ledger = settleTurn(plan, { messages: [], now: tally });
  const todos = withFigures(done.plan.todos, ledger, setup.now());
  const memory: MemoryUpdate = {
    ...rememberSeen(seen, todos),
    marks: changedEntries(marks, {}),
    exits: 0,
    rounds: 0,
    nags: 0,
  };
  return { ok: true, changes: done.changes, todos, ledger, memory };
}

/** The item that the answer completes: the only one left, in progress, and worked on or about the answer itself. */
function itemBehind(setup: PlanSetup, { answer, plan, tally, messages }: Answered): Todo | undefined {
  if (answer.text.trim() === "" || asksBack(answer.text)) return undefined;
  const [item, ...others] = actionable(plan.todos);
  if (item?.status !== "in_progress" || others.length > 0) return undefined;
  const { marks, callsBefore } = plan.memory;
  const mark = own(marks, item.id);
  // An answer to a later message of the user may be about anything.
  if (!mark || (tally.toolCalls <= callsBefore && !hasPlanned(messages, setup))) return undefined;
  const isWorkedOn = tally.toolCalls > Math.max(mark.toolCalls, callsBefore);
  // With the default verifier, evidence may be from before the item was started.
  if (!isWorkedOn && !setup.wantsEvidence && !isForAnswer(item.content)) return undefined;
  return hasBadNews(messages) ? undefined : item;
}

/**
 * Whether the last turn had a failed call, a refused report, or news of the user's edit. Then the answer may be about
 * the failure, such as "it does not build", and earlier work may not be what the edited plan asks for.
 */
function hasBadNews(messages: readonly BaseMessage[]): boolean {
  const { answer, results } = lastTurn(messages);
  if (answer && reportsIn(answer).some(({ isRefused }) => isRefused)) return true;
  return results.some((result) => result.status === "error" || markOf(result, "plan_edited"));
}
