import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, GraphRecursionError, isGraphDrained, type StreamMode } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { CONFIG } from "../../marks.ts";
import { StepControl } from "../../middleware/state/index.ts";
import { explainModelError, type ChosenModel } from "../../models/index.ts";
import { isFinished } from "../../plan/index.ts";
import type { ThreadStore } from "../../storage/index.ts";
import { stopJobs, sayToWorking } from "../../subagents/index.ts";
import { EditEvents, MailboxService } from "../edit/index.ts";
import {
  ending,
  finished,
  type Ending,
  type RunEvent,
  type RunEventBody,
  OUTCOME_CODES,
  eventIn,
} from "../events/index.ts";
import { PlanEdits } from "../plan/index.ts";
import type { RunStreamOptions } from "../prepare/index.ts";
import { answerEvents, questionEvent, type Question } from "../questions/index.ts";
import { Recorder } from "../record/index.ts";
import { CONTINUE, type Hold, type Thread } from "../thread/index.ts";
import type { Traces } from "../traces/index.ts";
import { type FileCopies, currentTurn } from "../undo/index.ts";
import { EMPTY_VIEW, MAIN, reduce, type RunView, costOf, type Prices } from "../view/index.ts";
import { decisionsFor } from "./answers.ts";

export interface RunThreadOptions {
  thread: Thread;
  /** The caller's hold on the thread. */
  held: Hold;
  model: Pick<ChosenModel, "name"> & Partial<ChosenModel>;
  events: RunEvents;
  signal: AbortSignal;
  /** Asks the user, and resolves to a value to resume with; undefined leaves the question open. */
  answer: (question: Question) => Promise<unknown>;
  task?: string;
  resumed: boolean;
  dir?: string;
  notice?: string;
  prices?: Prices;
  traces?: Traces;
  /** Copies the files that the turn changes, for an undo. */
  copies?: FileCopies;
  /** Users' plan edits and messages during the run. All are done or refused by its end. */
  edits?: PlanEdits;
  tap?: StreamTap;
  /** Receives the error of a failed run; the ending has its message. */
  onError?: (error: unknown) => void;
  /** Called before the run's last event; may add to it. */
  onEnd?: (end: Ending) => Promise<Partial<Pick<Extract<RunEvent, { type: "run-end" }>, "resume">>>;
}

/** Another reader of a run's stream, which is read only once. */
export interface StreamTap {
  modes: StreamMode[];
  /** Stream options of the reader. Called again when the run continues after an edit. */
  options: () => Partial<RunStreamOptions>;
  callbacks: BaseCallbackHandler[];
  onChunk: (namespace: string[], mode: StreamMode, payload: unknown) => void;
}

/**
 * Runs a thread that the caller holds, until it is finished, waits for an answer, fails or is interrupted. `input` null
 * continues where it stopped. Emits its events, from `run-start` to `run-end`; by then all finished work is saved. Does
 * not throw.
 */
export async function runThread(input: object | null, options: RunThreadOptions): Promise<Ending> {
  const { thread, model, events, task, resumed, dir, notice, prices, traces, copies, onEnd } = options;
  if (traces) events.follow(traces.run(prices));
  if (copies) {
    copies.begin(turnIn(input) ?? (await currentTurn(thread).catch(() => undefined)) ?? "");
    events.follow(copies.follow);
  }
  events.emit({
    type: "run-start",
    model: model.name,
    resumed,
    task,
    dir,
  });
  if (notice !== undefined) events.emit({ type: "notice", text: notice });
  const isNewTask = turnIn(input) !== undefined && task !== CONTINUE;
  const snapshot = resumed ? await snapshotOf(thread, { isNewTask }) : undefined;
  if (snapshot) events.emit(snapshot);
  const progress = new ProgressNotes(thread);
  events.follow((event) => {
    if (event.type === "plan-change" && event.owner === MAIN) void progress.note(event.counts);
  });
  const end = await run(input, { ...options, edits: options.edits ?? new PlanEdits() });
  await progress.note(end.counts);
  const more = await onEnd?.(end);
  events.emit({
    type: "run-end",
    ...end,
    exitCode: OUTCOME_CODES[end.outcome],
    usage: events.view.usage,
    cost: prices ? costOf(events.view.usage, prices) : undefined,
    waitedMs: events.view.waitedMs > 0 ? events.view.waitedMs : undefined,
    ...more,
  });
  return end;
}

/** Saves the progress of a plan for lists of threads, also during a step. */
class ProgressNotes {
  readonly #thread: Thread;
  #last: Promise<void> = Promise.resolve();

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  note({ completed, cancelled, total }: Ending["counts"]): Promise<void> {
    const { checkpointer } = this.#thread.agent.graph;
    const { noteProgress } = checkpointer as Partial<Pick<ThreadStore, "noteProgress">>;
    const todos = { done: completed, total: total - cancelled };
    // Fails if another process has taken the thread over: that one saves the progress.
    const write = async (): Promise<void> =>
      noteProgress?.call(checkpointer, this.#thread.id, todos).catch(() => {});
    this.#last = this.#last.then(write);
    return this.#last;
  }
}

/** The id of the message in an input, which starts a turn. */
function turnIn(input: object | null): string | undefined {
  const { messages = [] } = (input ?? {}) as { messages?: { id?: string } | { id?: string }[] };
  return [messages].flat().at(-1)?.id;
}

type Run = RunThreadOptions & { edits: PlanEdits };

async function run(input: object | null, options: Run): Promise<Ending> {
  const { thread, events, signal, edits } = options;
  const emit = (event: RunEventBody): void => {
    edits.noteStep();
    events.emit(event);
  };
  // One for the whole run: a call may be asked about before it is made.
  const recorder = new Recorder(emit, signal);
  const editEvents = new EditEvents({ thread, emit: (event) => events.emit(event) });
  edits.open({
    write: (edit, begin) => editEvents.write(edit, begin),
    say: async ({ id, content }, begin) => {
      // After a stop no model call follows in this run.
      if (signal.aborted)
        throw new HarnessError("run-ended", "The run was stopped. Send your message as the next task.");
      await thread.steer(content, { id, begin });
      emit({ type: "message", text: new HumanMessage({ content }).text });
    },
    sayToHelper: (content) => {
      const { text } = new HumanMessage({ content });
      const isForHelper = sayToWorking(thread.agent.graph.checkpointer, thread.id, text);
      if (isForHelper) emit({ type: "message", text });
      return isForHelper;
    },
  });
  const mailbox = new MailboxService(thread, edits);
  try {
    await mailbox.start();
    // A thread that waits for an answer gets it before it runs.
    const open = input === null ? await thread.questions() : [];
    let next = open.length > 0 ? await answers(open, options, recorder) : input;
    for (;;) {
      if (next === undefined) return ending(await thread.state(), signal.aborted ? "interrupted" : "waiting");
      await stream(next, options, { recorder, editEvents });
      await edits.settle();
      const state = await thread.state();
      // If a question stays open no model call follows, which would otherwise report refused calls.
      recorder.settleUnmade(MAIN, (state.values as { messages?: BaseMessage[] }).messages ?? []);
      if (signal.aborted) return ending(state, "interrupted");
      const questions = await thread.questions(state);
      if (questions.length === 0 && edits.isLeaving && state.next.length > 0)
        return ending(state, "interrupted");
      if (questions.length === 0) return finished(state, options.model);
      next = await answers(questions, options, recorder);
      if (signal.aborted) return ending(state, "interrupted");
    }
  } catch (error) {
    await edits.settle();
    const state = await thread.state().catch(() => undefined);
    if (signal.aborted) return ending(state, "interrupted");
    options.onError?.(error);
    return { ...ending(state, "failed"), error: explain(error, options.model) };
  } finally {
    // Background jobs stop with the run: only the thread's next run may write to it.
    await stopJobs(thread.agent.graph.checkpointer, thread.id);
    recorder.finish();
    await mailbox.stop();
    await edits.close();
    await mailbox.answered();
  }
}

/** Streams the graph until it ends or waits for an answer, with pauses for edits between steps. */
async function stream(input: object | null, options: Run, parts: Parts): Promise<void> {
  for (let next = input; await isDrained(next, options, parts); next = null) {
    await options.edits.settle();
    if (options.edits.isLeaving) return;
  }
}

interface Parts {
  recorder: Recorder;
  editEvents: EditEvents;
}

/** Streams the graph, and returns whether it was stopped between two steps. */
async function isDrained(
  input: object | null,
  { thread, held, events, signal, edits, tap }: Run,
  { recorder, editEvents }: Parts,
): Promise<boolean> {
  const { modes = [], callbacks = [] } = tap ?? {};
  const storedPlan = new StoredPlan((event) => events.emit(event));
  const options = tap?.options();
  const control = new StepControl();
  await edits.enter(control);
  try {
    const chunks = await thread.agent.stream(input as never, {
      ...options,
      configurable: { ...options?.configurable, thread_id: thread.id, [CONFIG.lease]: held.token },
      streamMode: [...new Set([...modes, "custom" as const, "updates" as const])],
      subgraphs: true,
      // Saved before the next step starts: a kill repeats at most the step in flight.
      durability: "sync",
      callbacks: [recorder, ...callbacks],
      signal,
      control,
    });
    for await (const entry of chunks) {
      const [namespace, mode, chunk] = entry as [string[], StreamMode, unknown];
      if (mode !== "updates" || modes.includes(mode)) tap?.onChunk(namespace, mode, chunk);
      if (mode === "updates") storedPlan.note(namespace, chunk);
      const event = mode === "custom" && !editEvents.isPublished(chunk) ? eventIn(chunk) : undefined;
      if (event) storedPlan.emit(event);
    }
    return false;
  } catch (error) {
    if (isGraphDrained(error)) return true;
    throw error;
  } finally {
    edits.exit();
  }
}

/** Holds the model's changes of the main plan back until they are stored. */
class StoredPlan {
  readonly #show: (event: RunEventBody) => void;
  #held: RunEventBody[] = [];

  constructor(show: (event: RunEventBody) => void) {
    this.#show = show;
  }

  emit(event: RunEventBody): void {
    const isPlan = event.type === "plan-change" && event.owner === MAIN;
    // Later changes build on a held one.
    if (isPlan && (event.by === "model" || this.#held.length > 0)) this.#held.push(event);
    else this.#show(event);
  }

  /** Called with the update of a finished task, whose writes LangGraph has saved. */
  note(namespace: readonly string[], update: unknown): void {
    const writes = Object.values((update ?? {}) as Record<string, unknown>).flat();
    const isPlan = writes.some((write) => typeof write === "object" && write !== null && "todos" in write);
    if (namespace.length > 0 || !isPlan) return;
    for (const event of this.#held.splice(0)) this.#show(event);
  }
}

/**
 * Asks all questions, and returns the input with the answers; undefined if there are none. A question that stays open is
 * asked again by the run.
 */
async function answers(
  questions: readonly Question[],
  { events, answer, signal }: Run,
  recorder: Recorder,
): Promise<Command | undefined> {
  for (const question of questions) {
    if (question.call) recorder.expect(question.call);
    events.emit(questionEvent(question));
  }
  const values: Record<string, unknown> = {};
  for (const question of questions) {
    const value = await untilStopped(answer(question), signal);
    if (signal.aborted) return undefined;
    if (value !== undefined) values[question.id] = value;
  }
  for (const event of answerEvents(values, questions)) events.emit(event);
  for (const { id, review } of questions) {
    if (review && id in values) values[id] = decisionsFor(review, values[id]);
  }
  return Object.keys(values).length > 0 ? new Command({ resume: values }) : undefined;
}

/** The answer; undefined if the run is stopped before it comes. */
function untilStopped(answer: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    void answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function explain(error: unknown, model: RunThreadOptions["model"]): string {
  if (error instanceof GraphRecursionError)
    return "The run took more steps than allowed; resume continues it.";
  return explainModelError(error, model);
}

/** The plan of a resumed thread as an event; undefined without a plan, or if it was finished before a new task. */
async function snapshotOf(
  thread: Thread,
  { isNewTask }: { isNewTask: boolean },
): Promise<RunEventBody | undefined> {
  const { todos, rules } = await thread.plan();
  if (todos.length === 0 || (isNewTask && isFinished(todos))) return undefined;
  return { type: "plan-snapshot", owner: MAIN, todos, rules: rules.length > 0 ? [...rules] : undefined };
}

/** Stamps the events of a run, and keeps its view. */
export class RunEvents {
  view: RunView = EMPTY_VIEW;
  readonly #thread: string;
  readonly #onEvent: (event: RunEvent, view: RunView) => void;
  readonly #followers: ((event: RunEvent) => void)[] = [];

  constructor(thread: string, onEvent: (event: RunEvent, view: RunView) => void) {
    this.#thread = thread;
    this.#onEvent = onEvent;
  }

  /** Calls `follower` with every event from now on. */
  follow(follower: (event: RunEvent) => void): void {
    this.#followers.push(follower);
  }

  emit(body: RunEventBody): void {
    const { type, ...rest } = body;
    const event = { type, version: 1, at: Date.now(), thread: this.#thread, ...rest } as RunEvent;
    this.view = reduce(this.view, event);
    this.#onEvent(event, this.view);
    for (const follower of this.#followers) follower(event);
  }
}
