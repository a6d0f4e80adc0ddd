import { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { isFinished, renderChecklist, renderSnapshot, renderStatus } from "../../plan/index.ts";
import type { Change, Todo, ToolText } from "../../plan/index.ts";
import { callId, looseTool, type ToolRuntime } from "../loose-tool.ts";
import { announce } from "./events.ts";
import type { PlanSetup } from "./options.ts";
import { rememberSeen } from "./seen.ts";
import { readPlanState, todosUpdate, type MemoryUpdate, type PlanMemory } from "./state.ts";
import type { Outcome, PlanParts, Turns } from "./turn.ts";

/** The tools through which the model writes and updates the plan. */
export function planTools({ setup, turns }: PlanParts): DynamicStructuredTool[] {
  const { write, update } = setup.preset.tools;
  return [write, ...(update ? [update] : [])].map((text) =>
    looseTool(text, (args, runtime) => runCall(setup, turns, { text, args, runtime })),
  );
}

async function runCall(
  setup: PlanSetup,
  turns: Turns,
  { text, args, runtime }: { text: ToolText; args: unknown; runtime: ToolRuntime },
): Promise<Command | ToolMessage> {
  const id = callId(runtime);
  const call = { name: text.name, args: args as Record<string, unknown>, id };
  const outcome = await turns.evaluate(call, runtime.state, runtime.signal);
  const { memory } = readPlanState(runtime.state);
  const answer = (content: string, status: "success" | "error"): ToolMessage =>
    new ToolMessage({ content, status, name: text.name, tool_call_id: id });

  if (!outcome.accepted) return answer(refusal(outcome, memory), "error");
  const { changes, patch, marks } = outcome.accepted;
  const { nextId, retired, todos } = outcome.plan;
  if (changes.length > 0) {
    await announce(setup, runtime, { by: "model", changes, todos: turns.advance(id, runtime.state, patch) });
  }
  const remembered: MemoryUpdate = {
    ...rememberSeen(memory.seen, todos),
    nextId,
    retired: [...retired],
    marks,
    unseen: false,
    ...(changes.some(isProgress) && { exits: 0 }),
  };
  const update: { todos: Todo[]; _plan: MemoryUpdate; messages: ToolMessage[] } = {
    todos: todosUpdate(todos, patch),
    _plan: remembered,
    messages: [answer(acceptance(setup, outcome, { memory, call }), "success")],
  };
  return new Command({ update });
}

/** Items came, went or moved on. Rewording does not count: a model could put off its answer with it for ever. */
function isProgress({ type }: Change): boolean {
  return type !== "todo-edit" && type !== "plan-reorder";
}

function refusal({ issues, before }: Outcome, { unseen }: PlanMemory): string {
  const reasons = issues.map((issue) => issue.message).join("\n");
  const plan = unseen && before.length > 0 ? `\n${snapshot(before)}` : "";
  return `Error: ${reasons}\nThe plan is unchanged.${plan}`;
}

function acceptance(
  { preset }: PlanSetup,
  { plan, before, accepted }: Outcome,
  { memory, call }: { memory: PlanMemory; call: { id: string; name: string } },
): string {
  const { todos } = plan;
  const notes = accepted!.notes.length > 0 ? `\nNote: ${accepted!.notes.join(" ")}` : "";
  const edited = memory.edited.includes(call.id) ? "The user edited this plan before approving it.\n" : "";
  if (preset.result === "echo") {
    const list = JSON.stringify(todos.map(({ content, status }) => ({ content, status })));
    return `${edited}Updated todo list to ${list}${notes}`;
  }
  if (preset.result === "checklist") return `${edited}${renderChecklist(todos)}${notes}`;
  const isWrite = call.name === preset.tools.write.name;
  // The ids of a new plan are its positions; after a rewrite of an open plan the model has to be told.
  const isNew = before.length === 0 || isFinished(before);
  const whole = memory.unseen || edited !== "" || (isWrite && !isNew);
  const set = isWrite && todos.length > 0 ? "Plan set. " : "";
  return `${edited}${set}${renderStatus(todos)}${notes}${whole && todos.length > 0 ? `\n${snapshot(todos)}` : ""}`;
}

/** The whole plan in a tool result. `visibility.ts` looks for the tag. */
function snapshot(todos: Outcome["before"]): string {
  return `<plan>\n${renderSnapshot(todos)}\n</plan>`;
}
