import { interrupt, isGraphBubbleUp } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { isRecord } from "../../plan/read/index.ts";

/** An action that a person reviews, as LangChain's user interfaces show it. */
export interface ReviewedAction {
  name: string;
  args: Record<string, unknown>;
  description: string;
}

/** The decisions allowed for an action. */
export interface ReviewRule {
  allowedDecisions: readonly string[];
  /** JSON Schema of the arguments, for editing them. */
  argsSchema?: Record<string, unknown>;
}

/** The fields of LangChain's human-in-the-loop requests, in both spellings that user interfaces read. */
export interface ReviewFields {
  actionRequests: ReviewedAction[];
  action_requests: ReviewedAction[];
  reviewConfigs: { actionName: string; allowedDecisions: string[]; argsSchema?: object }[];
  review_configs: { action_name: string; allowed_decisions: string[]; args_schema?: object }[];
}

export function reviewFields(reviews: readonly { action: ReviewedAction; rule: ReviewRule }[]): ReviewFields {
  const actions = reviews.map(({ action }) => action);
  return {
    actionRequests: actions,
    action_requests: actions,
    reviewConfigs: reviews.map(({ action: { name }, rule: { allowedDecisions, argsSchema } }) => ({
      actionName: name,
      allowedDecisions: [...allowedDecisions],
      ...(argsSchema && { argsSchema }),
    })),
    review_configs: reviews.map(({ action: { name }, rule: { allowedDecisions, argsSchema } }) => ({
      action_name: name,
      allowed_decisions: [...allowedDecisions],
      ...(argsSchema && { args_schema: argsSchema }),
    })),
  };
}

/**
 * Interrupts the run until a person answers, and returns the answer. Throws `invalid-options` without a checkpointer,
 * which names `asker`.
 */
export function askPerson(request: object, asker: string): unknown {
  try {
    return interrupt(request);
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    const message = `${asker} needs a checkpointer; pass one to createAgent, and a thread_id to invoke.`;
    throw new HarnessError("invalid-options", message, { cause: error });
  }
}

/** The decisions in an answer with several: `{ decisions }` of LangChain's UIs, or the bare list of older ones. */
export function decisionList(answer: unknown): unknown[] | undefined {
  const list = isRecord(answer) ? answer["decisions"] : answer;
  return Array.isArray(list) ? list : undefined;
}

export type DecisionType = "approve" | "edit" | "reject" | "respond";

const WORDS: Record<string, DecisionType> = {
  approve: "approve",
  accept: "approve",
  edit: "edit",
  reject: "reject",
  ignore: "reject",
  respond: "respond",
  response: "respond",
};

/** The type of a decision, from any of the words that user interfaces use. */
export function decisionType(decision: unknown): DecisionType | undefined {
  if (typeof decision === "boolean") return decision ? "approve" : "reject";
  const record = isRecord(decision) ? decision : {};
  const word = typeof decision === "string" ? decision.trim() : (record["type"] ?? record["decision"]);
  return typeof word === "string" && Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

/** The person's reason in a decision. */
export function reasonOf(decision: unknown): string | undefined {
  if (!isRecord(decision)) return undefined;
  const reason = [decision["message"], decision["reason"], decision["args"]].find(
    (value): value is string => typeof value === "string" && value.trim() !== "",
  );
  return reason?.trim();
}

/** The name of the person who decided, if known. */
export function actorOf(decision: unknown): { by?: string } {
  const by = isRecord(decision) ? decision["by"] : undefined;
  return typeof by === "string" ? { by } : {};
}

/** The edited call in a decision; without a name if only arguments were sent. */
export function editedCall(decision: unknown): { name?: unknown; args: Record<string, unknown> } | undefined {
  if (!isRecord(decision)) return undefined;
  const { editedAction, edited_action, args } = decision;
  const action = editedAction ?? edited_action;
  if (isRecord(action))
    return isRecord(action["args"]) ? { name: action["name"], args: action["args"] } : undefined;
  if (!isRecord(args)) return undefined;
  // Older UIs: `args` is the action, `{ action, args }`.
  const { action: name, args: inner, ...others } = args;
  const isAction = typeof name === "string" && isRecord(inner) && Object.keys(others).length === 0;
  return isAction ? { name, args: inner } : { args };
}
