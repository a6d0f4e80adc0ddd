import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";
import { metadataMark, metadataOf } from "../../marks.ts";
import { type Resource, isBudgetStop, type BudgetStop } from "../../middleware/budget/index.ts";
import { BUDGET_REASON } from "../../middleware/plan/index.ts";
import type { ChosenModel } from "../../models/index.ts";
import { countTodos, isClosed, type Todo } from "../../plan/index.ts";
import { wholeAnswer } from "../../subagents/index.ts";
import type { RunEvent } from "./events.ts";

type RunEnd = Extract<RunEvent, { type: "run-end" }>;

export type Ending = Pick<RunEnd, "outcome" | "counts" | "answer" | "error" | "reason">;

interface ThreadValues {
  messages?: BaseMessage[];
  todos?: Todo[];
}

/** The ending of a run that no one stopped. It has failed if the model declined the task. */
export function finished(state: StateSnapshot, { name }: Pick<ChosenModel, "name">): Ending {
  if (isStateUnfinished(state)) {
    const usedUp = usedUpOf(state);
    return { ...ending(state, "open"), ...(usedUp && { reason: REASONS[usedUp] }) };
  }
  if (!DECLINED.includes(finishReason(state))) return ending(state, "done");
  return { ...ending(state, "failed"), error: `${name} declined the task.` };
}

/** Whether something is left to do: a waiting step, turns beyond the budget, or open items. */
export function isStateUnfinished(state: StateSnapshot): boolean {
  const { todos = [] } = state.values as ThreadValues;
  return state.tasks.length > 0 || finishReason(state) === BUDGET_REASON || !todos.every(isClosed);
}

export function ending(state: StateSnapshot | undefined, outcome: RunEnd["outcome"]): Ending {
  const { messages = [], todos = [] } = (state?.values ?? {}) as ThreadValues;
  const text = AIMessage.isInstance(messages.at(-1)) ? wholeAnswer(messages) : "";
  const answer = (outcome === "open" && state && budgetStopOf(state)?.text) || text;
  return { outcome, counts: countTodos(todos), answer: answer || undefined };
}

const DECLINED: unknown[] = ["refusal", "content_filter"];

function finishReason({ values }: StateSnapshot): unknown {
  const { messages = [] } = values as ThreadValues;
  const { finish_reason: openAi, stop_reason: anthropic } = metadataOf(messages.at(-1));
  return openAi ?? anthropic;
}

const REASONS = {
  modelCalls: "turn-limit",
  tokens: "token-limit",
  cost: "cost-limit",
  ms: "time-limit",
} as const satisfies Record<Resource, RunEnd["reason"]>;

/** The exhausted resource that stopped a thread. */
function usedUpOf(state: StateSnapshot): Resource | undefined {
  const { messages = [] } = state.values as ThreadValues;
  const stop = budgetStopOf(state);
  if (stop) return stop.resource;
  if (finishReason(state) !== BUDGET_REASON) return undefined;
  return metadataMark(messages.at(-1), "holdfast_used_up") as Resource;
}

/** The budget stop of a sub-agent that stopped its thread. */
function budgetStopOf({ tasks }: StateSnapshot): BudgetStop | undefined {
  const values: unknown[] = tasks.flatMap(({ interrupts }) =>
    interrupts.map(({ value }) => value as unknown),
  );
  return values.find(isBudgetStop);
}
