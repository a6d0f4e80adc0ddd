import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { applyWrite, diffTodos, isClosed, isOpen } from "../../../plan/index.ts";
import type { Change, Plan, Policy, Preset, Result, Todo } from "../../../plan/index.ts";
import { describeChanges } from "../../../plan/presets/index.ts";
import { show, isRecord, readRules } from "../../../plan/read/index.ts";
import { renderLines, renderRules } from "../../../plan/render/index.ts";
import { nextNumber } from "../../../plan/todo/index.ts";
import { decidedByUser, saidByUser } from "../../text/index.ts";
import {
  copyOf,
  actorOf,
  askPerson,
  decisionList,
  decisionType,
  editedCall,
  reasonOf,
  reviewFields,
  type ReviewFields,
} from "../../tools/index.ts";
import { editedPolicy, planCalls, Turns } from "../plan-call/turn.ts";
import { knewOpenItems, unheardEdits } from "../seen.ts";
import type { PlanSetup } from "../setup.ts";
import { planFrom, readPlanState, type MemoryUpdate } from "../state.ts";

/**
 * A person's decision about a plan. `edit` brings the list that takes its place; its rules stay where none come. `by`:
 * the person's name, where several may decide.
 */
export type PlanDecision = { by?: string } & (
  | { type: "approve" }
  | { type: "edit"; todos: readonly EditedTodo[]; rules?: readonly string[] }
  | { type: "reject"; reason?: string }
);

/** An item of an edited plan: its content, and whatever else is to be set. */
export type EditedTodo = Partial<Todo> & { content: string };

/** The value of the interrupt that asks for approval. */
export interface PlanApprovalRequest extends ReviewFields {
  type: "plan-approval";
  version: 1;
  owner: string;
  /** The plan as it would be. */
  todos: readonly Todo[];
  /** The conditions that it comes with. */
  rules?: readonly string[];
  changes: readonly Change[];
  /** The difference from the plan that is open, in words. Absent where none is open. */
  difference?: string;
  /** The other calls of the turn. They are made when the plan is approved as it is, and not otherwise. */
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

/** Stops the run after the model proposed a plan, before any tool of that turn runs, until a person decided. */
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
    // LangGraph replays every earlier answer on resume, so a bad one must lead to another question, not to an error.
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
      return { _plan: { approved: { id: call.id, message: message.id, ...actorOf(decision) }, ...AGREED } };
  }
}

/** Work waits for it: somebody has still to agree to the plan that is open. */
export function isProposed(state: unknown): boolean {
  return readPlanState(state).memory.proposed === true;
}

/**
 * Tells that a plan is open, or was approved with the calls of the last turn, and that nobody has still to agree to it.
 */
export function isApproved(state: unknown): boolean {
  const { todos, memory } = readPlanState(state);
  if (memory.proposed) return false;
  const { messages = [] } = (state ?? {}) as { messages?: BaseMessage[] };
  const turn = messages.findLast((message) => AIMessage.isInstance(message))?.id;
  return todos.some(isOpen) || (turn !== undefined && turn === memory.approved?.message);
}

/** Written before a run that wants to be asked before the plan that is open is gone on with. */
export const PROPOSED: MemoryUpdate = { proposed: true };
const AGREED: MemoryUpdate = { proposed: false };

function ask(request: PlanApprovalRequest): unknown {
  return askPerson(request, "planMiddleware: approval");
}

type Edit = Extract<PlanDecision, { type: "edit" }>;
type Reading = (PlanDecision & { error?: undefined }) | { type: "unreadable"; error: string };

/** Understands a decision in the short form, as a bare word, or in the lists of LangChain's UIs. */
function readDecision(answer: unknown): Reading {
  const decision = decisionList(answer)?.[0] ?? answer;
  const type = decisionType(decision);
  const actor = actorOf(decision);
  if (type === "approve") return { type, ...actor };
  if (type === "edit") {
    const args = editedCall(decision)?.args ?? (isRecord(decision) ? decision : {});
    const todos = args["todos"] ?? args["items"];
    const rules = readRules(args["rules"]);
    if (Array.isArray(todos))
      return { type, todos: todos as EditedTodo[], ...actor, ...(rules && { rules }) };
  } else if (type) {
    const reason = reasonOf(decision);
    return { type: "reject", ...actor, ...(reason !== undefined && { reason }) };
  }
  const valid = '{type:"approve"}, {type:"edit",todos:[…]} or {type:"reject",reason}';
  return { type: "unreadable", error: `Resume with ${valid}; got ${show(answer)}.` };
}

function editError(plan: Plan, todos: readonly EditedTodo[], { preset }: PlanSetup): string | undefined {
  const result = applyEdit(plan, todos, preset);
  return result.ok ? undefined : result.issues.map((issue) => issue.message).join(" ");
}

function applyEdit(plan: Plan, todos: readonly EditedTodo[], { policy }: Preset): Result {
  return applyWrite(plan, inWords(todos, policy), editedPolicy(policy));
}

type Call = NonNullable<AIMessage["tool_calls"]>[number];

/** The plan calls of a turn that a person has to see, with what they would come to together. */
async function findProposal(
  setup: PlanSetup,
  message: AIMessage,
  state: { messages: BaseMessage[] },
): Promise<{ calls: Call[]; plan: Plan; todos: readonly Todo[]; changes: readonly Change[] } | undefined> {
  const isDue = isProposed(state);
  if (setup.approval === "first" && !isDue && isAgreed(setup, message, state)) return undefined;
  const before = planFrom(readPlanState(state));
  // Completions are verified when the call runs; asking for approval must not run the checks a second time.
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

/**
 * Whether the model proposed its changes to an open plan. One that a person wrote while they waited is none of these.
 */
function isAgreed(
  setup: PlanSetup,
  message: AIMessage,
  { messages, ...state }: { messages: BaseMessage[] },
): boolean {
  const plan = readPlanState(state);
  const edits = unheardEdits(plan, messages.slice(0, messages.indexOf(message)), setup);
  return edits.length > 0 ? knewOpenItems(plan.memory.seen) : !plan.todos.every(isClosed);
}

/** Progress needs nobody's consent; other work than agreed does. */
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
 * Has the turn's list, or else its first plan call, apply the person's; the call itself stands as the model sent it,
 * and its result says what was changed. No other call of the turn is made: the model meant them for its own plan, and
 * nobody has agreed to that.
 */
function editedPlan(
  { preset: { policy, tools } }: PlanSetup,
  message: AIMessage,
  { calls, todos, news, rules: sent, by }: { calls: Call[]; news: string } & Edit,
): ApprovalUpdate {
  const first = calls.find(({ name }) => name === tools.write.name) ?? calls[0]!;
  const rules = sent ?? rulesIn(first);
  const args = { [policy.listField]: inWords(todos, policy), ...(rules && { rules }) };
  // Some models give all calls of a turn one id: an answer to one would be taken for an answer to the plan call.
  const others = message.tool_calls!.filter((call) => call !== first && call.id !== first.id);
  const voided = others.map((call) => notRun(call, calls.includes(call) ? PLAN_REPLACED : CALL_WITHHELD));
  const isPlain = others.length === message.tool_calls!.length - 1;
  const approved = {
    id: first.id,
    message: message.id,
    ...(by && { by }),
    edit: { args, news },
  };
  return {
    messages: isPlain ? voided : [withCalls(message, [first, ...others]), ...voided],
    _plan: { approved, ...AGREED },
  };
}

function withCalls(message: AIMessage, tool_calls: Call[]): BaseMessage {
  const { tool_calls: _raw, ...additional_kwargs } = message.additional_kwargs;
  return copyOf(message, { tool_calls, additional_kwargs });
}

/**
 * The person's list with an id for each item, where it has any: that of the item with the same words, else one that no
 * item had, so that nothing new is taken for it.
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
    const same = items.find(({ id, content }) => content === item.content && !ids.has(id));
    const id = same?.id ?? String(next++);
    ids.add(id);
    return { ...item, id };
  });
}

/** The difference of a person's list from the plan that the model proposed, in words. */
function editNews(
  list: readonly EditedTodo[],
  { setup: { preset }, plan, proposal }: { setup: PlanSetup; plan: Plan; proposal: readonly Todo[] },
): string {
  const result = applyEdit(plan, list, preset);
  const changes = result.ok ? diffTodos(proposal, result.plan.todos) : [];
  return changes.length > 0 ? describeChanges(changes, proposal) : "";
}

/** The list in the model's words, as if it had written it. */
function inWords(todos: readonly EditedTodo[], { contentField }: Policy): object[] {
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
  calls: Call[],
  { reason, ...decision }: Extract<PlanDecision, { type: "reject" }>,
): ApprovalUpdate {
  const mark = decidedByUser({ ...decision, ...(reason && { message: reason }) });
  const rejected = `The user rejected this plan${reason ? `: ${reason}` : ""}. It was not applied.`;
  const other = "Not run: the user rejected the plan that was proposed in the same turn.";
  const replies = message.tool_calls!.map((call) => {
    if (!calls.includes(call)) return notRun(call, other);
    return notRun(call, rejected, call === calls[0] ? { ...saidByUser(rejected), ...mark } : {});
  });
  return { messages: replies, jumpTo: "model" };
}

function rulesIn({ args }: Call): string[] | undefined {
  return readRules(args["rules"]);
}

function notRun({ name, id = "" }: Call, content: string, additional_kwargs = {}): ToolMessage {
  return new ToolMessage({ content, status: "error", name, tool_call_id: id, additional_kwargs });
}
