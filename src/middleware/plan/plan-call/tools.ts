import { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { showResult } from "../../../langgraph/index.ts";
import { marks } from "../../../marks.ts";
import { listIds } from "../../../plan/apply/index.ts";
import { isClosed, isOpen, renderChecklist, renderStatus } from "../../../plan/index.ts";
import type { Change, Todo } from "../../../plan/index.ts";
import { type ToolText, describeChanges } from "../../../plan/presets/index.ts";
import { foreign, renderSnapshot } from "../../../plan/render/index.ts";
import { decidedByUser, ownText } from "../../text/index.ts";
import { callId, looseTool, type ToolRuntime, planTool } from "../../tools/index.ts";
import { announce } from "../announce.ts";
import { rememberEdits, rememberSeen } from "../seen.ts";
import type { PlanSetup } from "../setup.ts";
import { mergeMemory, readPlanState, todosUpdate, type MemoryUpdate, type PlanMemory } from "../state.ts";
import { isNewPlan, rememberChange, type Outcome, type PlanParts, type Turns } from "./turn.ts";

/** The mark of a result that reports the user's edit: an answer right after it completes nothing. */

/** The tools through which the model writes and updates the plan. */
export function planTools({ setup, turns }: PlanParts): DynamicStructuredTool[] {
  const { write, update } = setup.preset.tools;
  return [write, ...(update ? [update] : [])].map((text) =>
    planTool(looseTool(text, (args, runtime) => runCall(setup, turns, { text, args, runtime }))),
  );
}

async function runCall(
  setup: PlanSetup,
  turns: Turns,
  { text, args, runtime }: { text: ToolText; args: unknown; runtime: ToolRuntime },
): Promise<Command | ToolMessage> {
  const id = callId(runtime);
  const call = { name: text.name, args: args as Record<string, unknown>, id };
  const outcome = await turns.evaluate(call, runtime.state, runtime);
  const { edits, approved } = outcome;
  const state = readPlanState(runtime.state);
  const editMemory = edits.length > 0 ? rememberEdits(state.memory.seen, state.todos) : undefined;
  const memory = mergeMemory(state.memory, editMemory);
  // Only the first result of a turn tells the model of edits.
  const newMemory = outcome.isFirst ? editMemory : undefined;
  const news = newMemory && setup.preset.reminders.edited ? newsOf(edits) : "";
  const userWords = [
    ...(newMemory ? [newsOf(edits).trimEnd()] : []),
    ...(approved?.edit ? [`${approvedEdit(outcome)}${renderSnapshot(outcome.plan.todos)}`] : []),
  ].join("\n");
  const noted = marks({
    ...(newMemory && { plan_edited: true }),
    ...(userWords && { user_said: userWords }),
    ...(approved && decidedByUser({ type: approved.edit ? "edit" : "approve", by: approved.by })),
  });
  const answer = (content: string, status: "success" | "error"): ToolMessage =>
    new ToolMessage({
      content,
      status,
      name: text.name,
      tool_call_id: id,
      additional_kwargs: { ...noted, ...ownText(content) },
    });

  if (newMemory) await announce(setup, runtime, { by: "person", changes: edits, todos: state.todos });
  if (!outcome.accepted) {
    const reply = answer(refusal(outcome, { memory, news, rules: state.rules }), "error");
    return newMemory ? new Command({ update: { _plan: newMemory, messages: [reply] } }) : reply;
  }
  const { changes, patch, rules } = outcome.accepted;
  if (changes.length > 0 || rules) {
    const step = { before: outcome.before, changes: patch };
    const todos = changes.length > 0 ? turns.advance(id, runtime.state, step) : outcome.plan.todos;
    await announce(setup, runtime, { by: "model", changes, todos, ...(rules && { rules }) });
  }
  // The results of earlier calls of the turn have told the model of items that are not in the state yet.
  const seen = outcome.isFirst
    ? memory.seen
    : mergeMemory(memory, rememberSeen(memory.seen, outcome.before)).seen;
  const planMemory = rememberChange({ plan: outcome.plan, ...outcome.accepted }, seen);
  const reply = answer(
    acceptance(setup, outcome, { memory, tool: text.name, news, rules: rules ?? state.rules }),
    "success",
  );
  showResult(reply, runtime.config);
  const update: { todos: Todo[]; planRules?: string[]; _plan: MemoryUpdate; messages: ToolMessage[] } = {
    todos: todosUpdate(outcome.plan.todos, patch),
    ...(rules && { planRules: rules }),
    _plan: {
      ...planMemory,
      ...(outcome.accepted.move && { moves: { [id]: outcome.accepted.move } }),
      ...(newMemory && { seen: { ...newMemory.seen, ...planMemory.seen } }),
      ...(rules && { rules: rules.join("\n") }),
      ...(patch[0]?.type === "plan-reset" && { plans: (memory.plans ?? 1) + 1 }),
      unseen: false,
    },
    messages: [reply],
  };
  return new Command({ update });
}

function approvedEdit({ approved }: Outcome): string {
  const { news } = approved?.edit ?? {};
  if (news === undefined) return "";
  return `The user edited this plan before approving it.${news && ` Against yours: ${foreign(news)}`}\n`;
}

/** The news of users' edits. In a result and not in a reminder: the call may have changed the same items. */
function newsOf(edits: readonly Change[]): string {
  return `The user changed the plan before this call: ${foreign(describeChanges(edits))}\n`;
}

interface ResultParts {
  memory: PlanMemory;
  /** The text about users' edits. */
  news: string;
  rules: readonly string[] | undefined;
}

function refusal({ issues, before }: Outcome, { memory, news, rules }: ResultParts): string {
  const reasons = issues.map((issue) => issue.message).join("\n");
  const plan = (memory.unseen || news !== "") && before.length > 0 ? planText(before, rules) : "";
  return `Error: ${foreign(reasons)}\nThe plan is unchanged.\n${news}${plan}`.trimEnd();
}

function acceptance(
  { preset }: PlanSetup,
  outcome: Outcome,
  { memory, tool, news, rules }: ResultParts & { tool: string },
): string {
  const { plan, before, accepted, issues } = outcome;
  const { todos } = plan;
  const { notes } = accepted!;
  const remarks = [
    ...issues.map(({ message }) => message),
    ...(notes.length > 0 ? [`Note: ${notes.join(" ")}`] : []),
  ]
    .map((line) => `\n${foreign(line)}`)
    .join("");
  const edited = news + approvedEdit(outcome);
  if (preset.result === "echo") {
    const list = JSON.stringify(todos.map(({ content, status }) => ({ content, status })));
    return `${edited}Updated todo list to ${foreign(list)}${remarks}`;
  }
  if (preset.result === "checklist") return `${edited}${foreign(renderChecklist(todos))}${remarks}`;
  const isWrite = tool === preset.tools.write.name;
  // The ids of a first plan are its positions; after a rewrite of an open plan the model has to see them.
  const showsPlan = memory.unseen || edited !== "" || (isWrite && !isNewPlan(before));
  const hasKnownIds = showsPlan || todos.every(({ id }, index) => id === String(index + 1));
  const set = isWrite && todos.length > 0 ? `Plan set${hasKnownIds ? "" : `, ${listIds(todos)}`}. ` : "";
  const more = isWrite ? leftOutItems(outcome) : showsPlan ? "" : changedItems(outcome);
  return `${edited}${set}${renderStatus(todos)}${more}${remarks}${showsPlan && todos.length > 0 ? `\n${planText(todos, rules)}` : ""}`;
}

/** The changes that the status line does not show: new ids, other content, and another order of open items. */
function changedItems({ accepted, plan }: Outcome): string {
  const { changes } = accepted!;
  const added = changes.flatMap((change) => (change.type === "todo-add" ? change.todo.id : []));
  const edited = changes.flatMap((change) =>
    change.type === "todo-edit" && change.set.content !== undefined ? change.id : [],
  );
  const isReordered = changes.some(({ type }) => type === "plan-reorder");
  const order = isReordered ? plan.todos.filter(isOpen).map(({ id }) => id) : [];
  const lists = { Added: added, Edited: edited, "Order:": order };
  return Object.entries(lists)
    .map(([word, ids]) => (ids.length > 0 ? ` ${word} ${ids.join(", ")}.` : ""))
    .join("");
}

/** The items that a new list leaves out, and, for two lists in one turn, that the later one counts. */
function leftOutItems({ before, isFirst, plan }: Outcome): string {
  const now = new Map(plan.todos.map(({ id, status }) => [id, status]));
  const cancelled = before.filter(
    (todo) => !isClosed(todo) && (now.get(todo.id) ?? "cancelled") === "cancelled",
  );
  if (cancelled.length === 0) return "";
  return `${isFirst ? "" : " This list counts, not the one before it."} Cancelled: ${listIds(cancelled)}.`;
}

/** The whole plan in a tool result. `visibility.ts` looks for the tag. */
export function planText(todos: Outcome["before"], rules?: readonly string[]): string {
  return `<plan>\n${foreign(renderSnapshot(todos, rules))}\n</plan>`;
}
