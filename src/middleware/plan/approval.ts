import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { interrupt } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { isFinished, renderSnapshot, type Change, type Todo } from "../../plan/index.ts";
import { show } from "../../plan/read.ts";
import type { PlanSetup } from "./options.ts";
import { readPlanState, type MemoryUpdate } from "./state.ts";
import { planCalls, Turns } from "./turn.ts";

/** What a person decides about a plan. `edit` brings the list that takes its place. */
export type PlanDecision =
  | { type: "approve" }
  | { type: "edit"; todos: readonly (Partial<Todo> & { content: string })[] }
  | { type: "reject"; reason?: string };

interface ReviewRequest {
  name: string;
  args: Record<string, unknown>;
  description: string;
}

/**
 * The value of the interrupt that asks for approval. The review fields are those of LangChain's
 * human-in-the-loop middleware, in both spellings that user interfaces read.
 */
export interface PlanApprovalRequest {
  type: "plan-approval";
  version: 1;
  owner: string;
  /** The plan as it would be. */
  todos: readonly Todo[];
  changes: readonly Change[];
  actionRequests: ReviewRequest[];
  action_requests: ReviewRequest[];
  reviewConfigs: { actionName: string; allowedDecisions: string[] }[];
  review_configs: { action_name: string; allowed_decisions: string[] }[];
}

const DECISIONS = ["approve", "edit", "reject"];

interface ApprovalUpdate {
  messages?: BaseMessage[];
  _plan?: MemoryUpdate;
  jumpTo?: "model";
}

/** Stops the run after the model proposed a plan, before any tool of that turn runs, until a person decided. */
export async function askApproval(
  setup: PlanSetup,
  state: { messages: BaseMessage[] },
): Promise<ApprovalUpdate | undefined> {
  const message = state.messages.findLast((other) => AIMessage.isInstance(other));
  if (!message) return undefined;
  const proposal = await findProposal(setup, message, state);
  if (!proposal) return undefined;
  const { call, todos, changes } = proposal;
  const request: ReviewRequest = { name: call.name, args: call.args, description: renderSnapshot(todos) };
  const answer: unknown = interrupt({
    type: "plan-approval",
    version: 1,
    owner: setup.owner,
    todos,
    changes,
    actionRequests: [request],
    action_requests: [request],
    reviewConfigs: [{ actionName: call.name, allowedDecisions: DECISIONS }],
    review_configs: [{ action_name: call.name, allowed_decisions: DECISIONS }],
  } satisfies PlanApprovalRequest);
  const decision = readDecision(answer);
  switch (decision.type) {
    case "approve":
      return undefined;
    case "edit":
      return editedPlan(setup, message, call.id!, decision.todos);
    case "reject":
      return rejectedPlan(message, call.id!, decision.reason);
  }
}

/** Understands a decision in the short form, as a bare word, or wrapped in the `decisions` of LangChain's UIs. */
export function readDecision(answer: unknown): PlanDecision {
  const record = isRecord(answer) ? answer : {};
  const decisions = record["decisions"];
  if (Array.isArray(decisions) && decisions.length > 0) return readDecision(decisions[0]);
  const type =
    answer === true
      ? "approve"
      : typeof answer === "string"
        ? answer
        : (record["type"] ?? record["decision"]);
  if (type === "approve" || type === "accept") return { type: "approve" };
  if (type === "reject" || answer === false) {
    const reason = record["reason"] ?? record["message"];
    return typeof reason === "string" ? { type: "reject", reason } : { type: "reject" };
  }
  if (type === "edit") {
    const action = record["editedAction"] ?? record["edited_action"];
    const args = isRecord(action) && isRecord(action["args"]) ? action["args"] : record;
    const todos = args["todos"] ?? args["items"];
    if (Array.isArray(todos))
      return { type: "edit", todos: todos as (Partial<Todo> & { content: string })[] };
  }
  throw new HarnessError(
    "invalid-decision",
    `A plan is approved by resuming with {type:"approve"}, {type:"edit",todos:[…]} or {type:"reject",reason}; got ${show(answer)}.`,
  );
}

type Call = NonNullable<AIMessage["tool_calls"]>[number];

/** The first plan call of the turn that a person has to see, with what it would come to. */
async function findProposal(
  setup: PlanSetup,
  message: AIMessage,
  state: { messages: BaseMessage[] },
): Promise<{ call: Call; todos: readonly Todo[]; changes: readonly Change[] } | undefined> {
  const { todos: current } = readPlanState(state);
  const isFirst = current.length === 0 || isFinished(current);
  if (setup.approval === "first" && !isFirst) return undefined;
  // Completions are verified when the call runs; asking for approval must not run the checks a second time.
  const turns = new Turns({ ...setup, verify: undefined });
  for (const call of planCalls(message, state.messages, setup)) {
    const { accepted, plan } = await turns.evaluate(call, state, undefined);
    if (accepted?.changes.some(changesScope)) return { call, todos: plan.todos, changes: accepted.changes };
  }
  return undefined;
}

/** Progress needs nobody's consent; other work than agreed does. */
function changesScope(change: Change): boolean {
  if (change.type === "todo-edit")
    return change.set.content !== undefined || change.set.dependsOn !== undefined;
  return change.type === "todo-add" || change.type === "todo-remove" || change.type === "plan-reset";
}

function editedPlan(
  { preset }: PlanSetup,
  message: AIMessage,
  id: string,
  todos: readonly object[],
): ApprovalUpdate {
  const { write } = preset.tools;
  const field = preset.policy.contentField;
  const key = "items" in ((write.schema as { properties?: object }).properties ?? {}) ? "items" : "todos";
  const list = todos.map((todo) => {
    const { content, text, ...rest } = todo as Record<string, unknown>;
    return { ...rest, [field]: content ?? text };
  });
  const calls = message.tool_calls!.map((call) =>
    call.id === id ? { ...call, name: write.name, args: { [key]: list } } : call,
  );
  const { id: messageId, name, content, usage_metadata, response_metadata } = message;
  const { tool_calls: _raw, ...additional_kwargs } = message.additional_kwargs;
  const edited = new AIMessage({
    content,
    tool_calls: calls,
    additional_kwargs,
    response_metadata,
    ...(messageId !== undefined && { id: messageId }),
    ...(name !== undefined && { name }),
    ...(usage_metadata ? { usage_metadata } : {}),
  });
  return { messages: [edited], _plan: { edited: [id] } };
}

function rejectedPlan(message: AIMessage, id: string, reason: string | undefined): ApprovalUpdate {
  const replies = message.tool_calls!.map((call) => {
    const content =
      call.id === id
        ? `The user rejected this plan${reason ? `: ${reason}` : ""}. It was not applied.`
        : "Not run: the user rejected the plan that was proposed in the same turn.";
    return new ToolMessage({ content, status: "error", name: call.name, tool_call_id: call.id ?? "" });
  });
  return { messages: replies, jumpTo: "model" };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
