import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, GraphRecursionError, type StateSnapshot } from "@langchain/langgraph";
import { HarnessError } from "../errors.ts";
import { isPlanChangeEvent } from "../middleware/plan/events.ts";
import { explainModelError, type ChosenModel } from "../models/index.ts";
import { countTodos, isClosed, type Todo } from "../plan/index.ts";
import { isSubagentEvent } from "../subagents/index.ts";
import type { RunAgent } from "./agent.ts";
import { readPlan } from "./edit-plan.ts";
import type { RunEvent, RunEventBody } from "./events.ts";
import { readQuestion, type Question } from "./questions.ts";
import { Recorder } from "./recorder.ts";
import { MAIN } from "./view.ts";

type RunEnd = Extract<RunEvent, { type: "run-end" }>;
export type Ending = Pick<RunEnd, "outcome" | "counts" | "answer" | "error">;

export interface DriveOptions {
  agent: RunAgent;
  thread: string;
  model: ChosenModel;
  emit: (event: RunEventBody) => void;
  signal: AbortSignal;
  /** Gets a person's answer, as a value to resume with; undefined when there is nobody to ask. */
  answer: (question: Question) => Promise<unknown>;
}

/** A thread's state, as far as a run needs it. */
interface ThreadValues {
  messages?: BaseMessage[];
  todos?: Todo[];
}

/**
 * Runs a thread until it is finished, waits for an answer that nobody gives, fails or is interrupted. `input` null
 * goes on where it stopped. Whatever has finished is in the checkpointer when this returns. Does not throw.
 */
export async function drive(input: object | null, options: DriveOptions): Promise<Ending> {
  const { agent, signal } = options;
  const config = { configurable: { thread_id: options.thread } };
  try {
    let next = input === null ? await questionsFirst(options) : input;
    for (;;) {
      if (next === undefined) return ending(await agent.graph.getState(config), "waiting");
      await stream(next === GO_ON ? null : next, options);
      const state = await agent.graph.getState(config);
      if (signal.aborted) return ending(state, "interrupted");
      const questions = questionsOf(state);
      if (questions.length === 0) return ending(state, isOpenEnded(state) ? "open" : "done");
      next = await answers(questions, options);
      if (signal.aborted) return ending(state, "interrupted");
    }
  } catch (error) {
    const state = await agent.graph.getState(config).catch(() => undefined);
    if (signal.aborted) return ending(state, "interrupted");
    return { ...ending(state, "failed"), error: explain(error, options.model) };
  }
}

/** The first input of a run: the task, and what a later process has to know. */
export function taskInput(task: string, more: object): object {
  // With an id of its own the message is the same one when the step is run again.
  return { messages: [new HumanMessage({ content: task, id: crypto.randomUUID() })], ...more };
}

const GO_ON = Symbol("go on");

/** A thread that waits for an answer gets it before it runs. */
async function questionsFirst(options: DriveOptions): Promise<object | typeof GO_ON | undefined> {
  const state = await options.agent.graph.getState({ configurable: { thread_id: options.thread } });
  const questions = questionsOf(state);
  return questions.length === 0 ? GO_ON : answers(questions, options);
}

async function stream(input: object | null, { agent, thread, emit, signal }: DriveOptions): Promise<void> {
  const chunks = await agent.stream(input as never, {
    configurable: { thread_id: thread },
    streamMode: "custom",
    // Saved before the next step begins: a kill repeats at most the step in flight.
    durability: "sync",
    callbacks: [new Recorder(emit)],
    signal,
  });
  for await (const chunk of chunks as AsyncIterable<unknown>) {
    if (isPlanChangeEvent(chunk)) {
      const { owner, by, changes, counts, todos } = chunk;
      const copy = { owner, by, changes: [...changes], counts, todos: [...todos] };
      emit({ type: "plan-change", ...copy });
    } else if (isSubagentEvent(chunk)) {
      const { owner, name, description, todoId, error } = chunk;
      if (chunk.type === "subagent-start") {
        emit({ type: chunk.type, owner, name, description, ...(todoId !== undefined && { todoId }) });
      } else {
        emit({ type: chunk.type, owner, name, ok: chunk.ok ?? true, ...(error !== undefined && { error }) });
      }
    }
  }
}

/** Puts every question, and makes the input that goes on with the answers; undefined when one stays open. */
async function answers(
  questions: readonly Question[],
  { emit, answer }: DriveOptions,
): Promise<Command | undefined> {
  const given: Record<string, unknown> = {};
  for (const question of questions) {
    const { id, kind, text, options, todos, error } = question;
    emit({
      type: "question",
      id,
      kind,
      text,
      options,
      ...(todos && { todos: [...todos] }),
      ...(error !== undefined && { error }),
    });
    const value = await answer(question);
    if (value === undefined) return undefined;
    emit({ type: "answer", id, answer: value });
    given[id] = value;
  }
  return new Command({ resume: given });
}

function questionsOf({ tasks }: StateSnapshot): Question[] {
  return tasks.flatMap(({ interrupts }) => interrupts.map(readQuestion));
}

/** Whether something is left to do: items, or steps of a run that was cut short. */
function isOpenEnded({ tasks, values }: StateSnapshot): boolean {
  const { todos = [] } = values as ThreadValues;
  return tasks.length > 0 || !todos.every(isClosed);
}

function ending(state: StateSnapshot | undefined, outcome: RunEnd["outcome"]): Ending {
  const { messages = [], todos = [] } = (state?.values ?? {}) as ThreadValues;
  const last = messages.at(-1);
  const answer = last?.getType() === "ai" ? last.text : "";
  return {
    outcome,
    counts: countTodos(todos),
    ...(answer && { answer }),
  };
}

function explain(error: unknown, model: ChosenModel): string {
  const known = HarnessError.from(error);
  if (known) return known.message;
  if (error instanceof GraphRecursionError) return "The run took more steps than allowed; resume goes on.";
  return explainModelError(error, model);
}

/** The plan of a thread that is taken up again, as its first event. */
export async function snapshotOf(agent: RunAgent, thread: string): Promise<RunEventBody | undefined> {
  const todos = await readPlan(agent, thread);
  return todos.length > 0 ? { type: "plan-snapshot", owner: MAIN, todos } : undefined;
}
