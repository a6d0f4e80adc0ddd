import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { decisionList, parseDecision } from "../../../decision.ts";
import { marks } from "../../../marks.ts";
import { applyWrite, diffTodos, isClosed, isOpen } from "../../../plan/index.ts";
import type { Change, Plan, Policy, Preset, Result, Todo } from "../../../plan/index.ts";
import { describeChanges } from "../../../plan/presets/index.ts";
import { show, isRecord, readRules } from "../../../plan/read/index.ts";
import { renderLines, renderRules } from "../../../plan/render/index.ts";
import { nextNumber } from "../../../plan/todo/index.ts";
import { decidedByUser } from "../../text/index.ts";
import { copyOf, askUser, reviewFields, type ReviewFields } from "../../tools/index.ts";
import { editedPolicy, planCalls, Turns } from "../plan-call/turn.ts";
import { knewOpenItems, unheardEdits } from "../seen.ts";
import type { PlanSetup } from "../setup.ts";
import { planFrom, readPlanState, type MemoryUpdate } from "../state.ts";

/**
 * The user's decision about a plan. `edit` has the list that replaces the plan; without `rules` the plan's rules stay.
 * `by`: the user's name, if several may decide.
 */
export type PlanDecision = { by?: string } & (
  | { type: "approve" }
  | { type: "edit"; todos: readonly EditedTodo[]; rules?: readonly string[] }
  | { type: "reject"; reason?: string }
);

/** An item of an edited plan: its content, and other fields to set. */
export type EditedTodo = Partial<Todo> & { content: string };

/** The value of the interrupt that asks for approval. */
export interface PlanApprovalRequest extends ReviewFields {
  type: "plan-approval";
  version: 1;
  owner: string;
  /** The proposed plan. */
  todos: readonly Todo[];
  /** The rules of the proposed plan. */
  rules?: readonly string[];
  changes: readonly Change[];
  /** The difference from the open plan, in words. Absent if none is open. */
  difference?: string;
  /** The other calls of the turn. They run only if the plan is approved unchanged. */
  calls: readonly { name: string; args: Record<string, unknown> }[];
  /** The error of the last decision, if there was one. */
  error?: string;
}

const DECISIONS = ["approve", "edit", "reject"];

interface ApprovalUpdate {
  messages?: BaseMessage[];
  _plan?: MemoryUpdate;
  jumpTo?: "model";
}

/** Interrupts the run for the user's decision on a proposed plan, before any tool of that turn runs. */
export async function askApproval(
  setup: PlanSetup,
  state: { messages: BaseMessage[] },
): Promise<ApprovalUpdate | undefined> {
  const message = state.messages.findLast((other) => AIMessage.isInstance(other));
  const proposal = message && (await findProposal(setup, message, state));
  if (!proposal) return undefined;
  const { calls, todos, changes, plan } = proposal;
  const call = calls[0]!;
  const rules = rulesIn(call);
  const lines = [renderLines(todos), ...(rules?.length ? [renderRules(rules)] : [])];
  const action = { name: call.name, args: call.args, description: lines.join("\n") };
  const request: PlanApprovalRequest = {
    type: "plan-approval",
    version: 1,
    owner: setup.owner,
    todos,
    ...(rules && { rules }),
    changes,
    ...(plan.todos.some(isOpen) && { difference: differenceOf(plan.todos, todos) }),
    calls: message.tool_calls!.flatMap((other) =>
      calls.includes(other) ? [] : [{ name: other.name, args: other.args }],
    ),
    ...reviewFields([{ action, rule: { allowedDecisions: DECISIONS } }]),
  };
  let decision = readDecision(ask(request));
  for (;;) {
    // LangGraph replays earlier answers on resume, so a bad one must lead to another question and not to an error.
    const error = decision.type === "edit" ? editError(plan, decision.todos, setup) : decision.error;
    if (error === undefined) break;
    decision = readDecision(ask({ ...request, error }));
  }
  switch (decision.type) {
    case "edit": {
      const list = withIds(decision.todos, todos, plan);
      const news = editNews(list, { setup, plan, proposal: todos });
      return editedPlan(setup, message, { ...decision, calls, todos: list, news });
    }
    case "reject":
      return rejectedPlan(message, calls, decision);
    default:
      return {
        _plan: {
          approved: {
            id: call.id,
            message: message.id,
            ...("by" in decision && decision.by && { by: decision.by }),
          },
          ...APPROVED,
        },
      };
  }
}

/** Whether a plan is open, or was approved with the calls of the last turn, and needs no further approval. */
export function isApproved(state: unknown): boolean {
  const { todos, memory } = readPlanState(state);
  if (memory.proposed) return false;
  const { messages = [] } = (state ?? {}) as { messages?: BaseMessage[] };
  const turn = messages.findLast((message) => AIMessage.isInstance(message))?.id;
  return todos.some(isOpen) || (turn !== undefined && turn === memory.approved?.message);
}

/** Written before a run that must ask for approval before it continues the open plan. */
export const PROPOSED: MemoryUpdate = { proposed: true };
const APPROVED: MemoryUpdate = { proposed: false };

function ask(request: PlanApprovalRequest): unknown {
  return askUser(request, "planMiddleware: approval");
}

type Edit = Extract<PlanDecision, { type: "edit" }>;
type Reading = (PlanDecision & { error?: undefined }) | { type: "unreadable"; error: string };

/** Reads a decision in the short form, as a bare word, or in the lists of LangChain's UIs. */
function readDecision(answer: unknown): Reading {
  const { type, by, message, edited } = parseDecision(decisionList(answer)?.[0] ?? answer) ?? {};
  if (type === "approve") return { type, by };
  if (type === "edit") {
    const args = edited?.args ?? {};
    const todos = args["todos"] ?? args["items"];
    const rules = readRules(args["rules"]);
    if (Array.isArray(todos)) return { type, todos: todos as EditedTodo[], by, rules };
  } else if (type) {
    return { type: "reject", by, reason: message };
  }
  const valid = '{type:"approve"}, {type:"edit",todos:[…]} or {type:"reject",reason}';
  return { type: "unreadable", error: `Resume with ${valid}; got ${show(answer)}.` };
}

function editError(plan: Plan, todos: readonly EditedTodo[], { preset }: PlanSetup): string | undefined {
  const result = applyEdit(plan, todos, preset);
  return result.ok ? undefined : result.issues.map((issue) => issue.message).join(" ");
}

function applyEdit(plan: Plan, todos: readonly EditedTodo[], { policy }: Preset): Result {
  return applyWrite(plan, asWritten(todos, policy), editedPolicy(policy));
}

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];

/** The plan calls of a turn that need approval, with their joint result. Undefined if they need none. */
async function findProposal(
  setup: PlanSetup,
  message: AIMessage,
  state: { messages: BaseMessage[] },
): Promise<
  { calls: ToolCall[]; plan: Plan; todos: readonly Todo[]; changes: readonly Change[] } | undefined
> {
  const planState = readPlanState(state);
  const isDue = planState.memory.proposed === true;
  if (setup.approval === "first" && !isDue && isAgreed(setup, message, state)) return undefined;
  const before = planFrom(planState);
  // Without the verifier: it runs with the call itself, and must not run twice.
  const turns = new Turns({ ...setup, verify: undefined });
  const calls = planCalls(message, state.messages, setup);
  const changes: Change[] = [];
  let todos = before.todos;
  for (const call of calls) {
    const { accepted, plan } = await turns.evaluate(call, state, {});
    changes.push(...(accepted?.changes ?? []));
    todos = plan.todos;
  }
  const isAsked = changes.some(changesScope) || (isDue && calls.length > 0 && !todos.every(isClosed));
  return isAsked ? { calls, plan: before, todos, changes } : undefined;
}

/** Whether the model proposed its changes to an open plan, not to one that the user wrote in the meantime. */
function isAgreed(
  setup: PlanSetup,
  message: AIMessage,
  { messages, ...state }: { messages: BaseMessage[] },
): boolean {
  const plan = readPlanState(state);
  const edits = unheardEdits(plan, messages.slice(0, messages.indexOf(message)), setup);
  return edits.length > 0 ? knewOpenItems(plan.memory.seen) : !plan.todos.every(isClosed);
}

/** Whether a change needs approval: one of the work itself does, progress does not. */
function changesScope(change: Change): boolean {
  if (change.type === "todo-edit")
    return change.set.content !== undefined || change.set.dependsOn !== undefined;
  if (change.type === "todo-status") return change.to === "cancelled";
  return change.type === "todo-add" || change.type === "todo-remove" || change.type === "plan-reset";
}

function differenceOf(before: readonly Todo[], after: readonly Todo[]): string {
  const changes = diffTodos(before, after).filter(changesScope);
  return changes.length > 0 ? describeChanges(changes, before) : "nothing but progress.";
}

/**
 * Makes the turn's full write, or else its first plan call, apply the user's list. The call stays as the model sent
 * it, and its result tells what was changed. No other call of the turn runs: the model meant them for its own plan,
 * which no one has approved.
 */
function editedPlan(
  { preset: { policy, tools } }: PlanSetup,
  message: AIMessage,
  { calls, todos, news, rules: sent, by }: { calls: ToolCall[]; news: string } & Edit,
): ApprovalUpdate {
  const first = calls.find(({ name }) => name === tools.write.name) ?? calls[0]!;
  const rules = sent ?? rulesIn(first);
  const args = { [policy.listField]: asWritten(todos, policy), ...(rules && { rules }) };
  // Some models give all calls of a turn one id: a reply to another call would count as one to the plan call.
  const others = message.tool_calls!.filter((call) => call !== first && call.id !== first.id);
  const replies = others.map((call) => notRun(call, calls.includes(call) ? PLAN_REPLACED : CALL_WITHHELD));
  const hasUniqueIds = others.length === message.tool_calls!.length - 1;
  const approved = { id: first.id, message: message.id, ...(by && { by }), edit: { args, news } };
  return {
    messages: hasUniqueIds ? replies : [withCalls(message, [first, ...others]), ...replies],
    _plan: { approved, ...APPROVED },
  };
}

function withCalls(message: AIMessage, tool_calls: ToolCall[]): BaseMessage {
  const { tool_calls: _raw, ...additional_kwargs } = message.additional_kwargs;
  return copyOf(message, { tool_calls, additional_kwargs });
}

/**
 * Gives every item of the user's list an id, if any has one: that of the item with the same content, else an unused
 * one, so that a new item is not mistaken for an old one.
 */
function withIds(
  list: readonly EditedTodo[],
  proposal: readonly Todo[],
  { nextId, todos }: Plan,
): readonly EditedTodo[] {
  const ids = new Set(list.map(({ id }) => id));
  if (!list.some(({ id }) => id)) return list;
  const items = [...proposal, ...todos];
  let next = nextNumber(nextId, items);
  return list.map((item) => {
    if (item.id) return item;
    const match = items.find(({ id, content }) => content === item.content && !ids.has(id));
    const id = match?.id ?? String(next++);
    ids.add(id);
    return { ...item, id };
  });
}

/** The difference between the user's list and the proposed plan, in words. */
function editNews(
  list: readonly EditedTodo[],
  { setup: { preset }, plan, proposal }: { setup: PlanSetup; plan: Plan; proposal: readonly Todo[] },
): string {
  const result = applyEdit(plan, list, preset);
  const changes = result.ok ? diffTodos(proposal, result.plan.todos) : [];
  return changes.length > 0 ? describeChanges(changes, proposal) : "";
}

/** The list with the model's field names, as if it had written the list. */
function asWritten(todos: readonly EditedTodo[], { contentField }: Policy): object[] {
  return todos.map((todo) => {
    if (!isRecord(todo)) return todo;
    const { content, text, actuals: _, ...rest } = todo as Record<string, unknown>;
    return { ...rest, [contentField]: content ?? text };
  });
}

const PLAN_REPLACED = "Not applied: the user replaced your plan by an edited one.";
const CALL_WITHHELD =
  "Not run: the user edited the plan that you proposed in the same turn. Make this call again only if the edited plan wants it.";

function rejectedPlan(
  message: AIMessage,
  calls: ToolCall[],
  { reason, ...decision }: Extract<PlanDecision, { type: "reject" }>,
): ApprovalUpdate {
  const mark = decidedByUser({ ...decision, ...(reason && { message: reason }) });
  const rejected = `The user rejected this plan${reason ? `: ${reason}` : ""}. It was not applied.`;
  const other = "Not run: the user rejected the plan that was proposed in the same turn.";
  const replies = message.tool_calls!.map((call) => {
    if (!calls.includes(call)) return notRun(call, other);
    return notRun(call, rejected, call === calls[0] ? marks({ user_said: rejected, ...mark }) : {});
  });
  return { messages: replies, jumpTo: "model" };
}

function rulesIn({ args }: ToolCall): string[] | undefined {
  return readRules(args["rules"]);
}

function notRun({ name, id = "" }: ToolCall, content: string, additional_kwargs = {}): ToolMessage {
  return new ToolMessage({ content, status: "error", name, tool_call_id: id, additional_kwargs });
}
