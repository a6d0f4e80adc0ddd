import { isDeepStrictEqual } from "node:util";
import type { BaseMessage } from "@langchain/core/messages";
import { START, type BaseCheckpointSaver, type StateSnapshot } from "@langchain/langgraph";
import { TASKS } from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import { isBudgetStop } from "../../middleware/budget/stop.ts";
import { PROPOSED } from "../../middleware/plan/people/approval.ts";
import { readPlanState } from "../../middleware/plan/state.ts";
import { isOvertaken } from "../../middleware/repeats/journal.ts";
import { withoutThoughts } from "../../models/thinking/thoughts.ts";
import { isOpen, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/values.ts";
import type { Release, ThreadStore } from "../../storage/index.ts";
import { readQuestion, type Question } from "../events/questions.ts";
import { mergedPlan, type PlanEdit } from "../plan/merged-plan.ts";
import { waitingEdit, waitingInput } from "../plan/pending-edit.ts";
import type { RunAgent } from "../prepare/agent.ts";
import { finishedTasks } from "./finished-tasks.ts";

/** What a thread has come to. */
export interface ThreadContent {
  todos: Todo[];
  /** The conditions that hold for the whole plan. */
  rules: readonly string[];
  /** The agent's last words. */
  answer: string;
  /** The files that live in the thread, by path. */
  files: Record<string, string>;
}

/** Gives a thread back; with the token that its run writes by, where the checkpointer has such a thing. */
export type Hold = (() => Promise<void>) & Partial<Pick<Release, "token">>;

/**
 * Takes a thread for this process, where the checkpointer knows such a thing, and returns what gives it back. Throws
 * `thread-busy` when another process works on it, and still does after `wait` milliseconds; with `force` it is taken
 * from whoever has it.
 */
export async function hold(
  { graph }: RunAgent,
  thread: string,
  { wait = 0, force = false }: { wait?: number; force?: boolean } = {},
): Promise<Hold> {
  const { checkpointer } = graph as { checkpointer?: BaseCheckpointSaver | boolean };
  const leasing = checkpointer as Partial<Pick<ThreadStore, "acquireThread">>;
  return (await leasing.acquireThread?.(thread, { wait, force })) ?? (async () => {});
}

/** Reads a thread, with what has finished since its newest checkpoint. */
export async function readThread({ graph }: RunAgent, thread: string): Promise<ThreadContent> {
  const { values } = await graph.getState({ configurable: { thread_id: thread } });
  const {
    todos = [],
    messages = [],
    files = {},
  } = values as Partial<ThreadContent> & { messages?: BaseMessage[] };
  const last = messages.findLast(
    (message) => message.getType() === "ai" && withoutThoughts(message.text).trim() !== "",
  );
  const { rules = [] } = readPlanState(values);
  return { todos, rules, answer: withoutThoughts(last?.text ?? ""), files };
}

/** The items of a thread's plan, see `readRuledPlan`. */
export async function readPlan(agent: RunAgent, thread: string): Promise<Todo[]> {
  return (await readRuledPlan(agent, thread)).todos;
}

/**
 * The plan of a thread with its rules, and with what has finished since its newest checkpoint; read without the rest
 * where that will do.
 */
export async function readRuledPlan(
  agent: RunAgent,
  thread: string,
): Promise<Pick<ThreadContent, "todos" | "rules">> {
  const { checkpointer, channels } = agent.graph;
  const store = checkpointer as Partial<Pick<ThreadStore, "getValues">>;
  if (store.getValues && "todos" in channels) {
    const branches = Object.keys(channels).filter((name) => name.startsWith("branch:"));
    const names = ["todos", RULES, START, TASKS, ...branches];
    const { todos = [], [RULES]: rules = [], ...due } = await store.getValues(thread, names);
    const isDue = Object.values(due).some((value) => !Array.isArray(value) || value.length > 0);
    // Where no step is due, none of its tasks can have finished.
    if (!isDue) return { todos: todos as Todo[], rules: rules as string[] };
  }
  return readThread(agent, thread);
}

/**
 * Makes a person's edit of a thread's plan, and returns the plan with it; what the thread waits for stays. Throws
 * `invalid-plan`, a `PlanConflict`, `turn-unfinished` when the thread has to go on first, and `invalid-options` while a
 * plan waits for approval; changes nothing then. `begin` gets the plan that is about to be written, and may throw.
 */
export async function writePlan(
  agent: RunAgent,
  thread: string,
  edit: PlanEdit,
  begin?: (todos: readonly Todo[]) => void | Promise<void>,
): Promise<Todo[]> {
  const { graph } = agent;
  const config = { configurable: { thread_id: thread } };
  const state = await graph.getState(config);
  const questions = await questionsOf(agent, state);
  if (questions.some(({ kind }) => kind === "plan-approval")) {
    const message = `A plan waits for approval in ${thread}: that is answered first.`;
    throw new HarnessError("invalid-options", message);
  }
  const plan = readPlanState(state.values);
  const now = [...plan.todos];
  const todos = mergedPlan(agent, now, edit);
  const hasNewTodos = !isDeepStrictEqual(todos, now);
  // As the channel reads them: the first value of one is taken as it is.
  const wanted = readRules(edit.rules);
  const rules = isDeepStrictEqual(wanted ?? plan.rules, plan.rules) ? undefined : wanted;
  // A new checkpoint in the middle of a turn would let the model answer before the calls that are due.
  const isInTurn = state.tasks.length > 0;
  const write = isInTurn && hasNewTodos ? await waitingEdit(agent, state, todos) : undefined;
  await begin?.(todos);
  if (isInTurn) {
    await write?.();
    if (rules) await waitingInput(agent, state, [RULES, rules]);
  } else if (hasNewTodos || rules) {
    await graph.updateState(config, { ...(hasNewTodos && { todos }), ...(rules && { [RULES]: rules }) });
  }
  return todos;
}

const RULES = "planRules";

/** Makes the open plan of a thread that no run is at work on one to be approved before anything more is done. */
export async function proposePlan(agent: RunAgent, thread: string): Promise<void> {
  const config = { configurable: { thread_id: thread } };
  const state = await agent.graph.getState(config);
  if (!readPlanState(state.values).todos.some(isOpen)) return;
  if (state.tasks.length > 0) await waitingInput(agent, state, ["_plan", PROPOSED]);
  else await agent.graph.updateState(config, { _plan: PROPOSED });
}

/** What a thread waits for a person to say, in the order of the calls that ask. */
export async function openQuestions(agent: RunAgent, thread: string): Promise<Question[]> {
  return questionsOf(agent, await agent.graph.getState({ configurable: { thread_id: thread } }));
}

export async function questionsOf({ graph }: RunAgent, state: StateSnapshot): Promise<Question[]> {
  const waiting = state.tasks.filter(({ interrupts }) => interrupts.length > 0);
  if (waiting.length === 0) return [];
  const saved = await (graph.checkpointer as BaseCheckpointSaver).getTuple(state.config);
  const writes = saved?.pendingWrites ?? [];
  const finished = finishedTasks(writes);
  const interrupts = waiting
    .filter(({ id }) => !finished.has(id))
    .flatMap((task) => task.interrupts.filter(({ value }) => !isOvertaken({ id: task.id, value }, writes)));
  return interrupts.filter(({ value }) => !isBudgetStop(value)).map(readQuestion);
}
