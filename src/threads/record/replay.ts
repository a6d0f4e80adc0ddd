import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver, StateSnapshot } from "@langchain/langgraph";
import type { CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";
import { NO_TOKENS, sumTokens } from "../../middleware/prices/index.ts";
import { isFromUser, textOf } from "../../middleware/text/index.ts";
import { countTodos, isFinished } from "../../plan/index.ts";
import { readBackground } from "../../subagents/index.ts";
import {
  ending,
  isStateUnfinished,
  type RunEvent,
  type RunEventBody,
  type Usage,
  OUTCOME_CODES,
} from "../events/index.ts";
import type { RunSettings } from "../prepare/index.ts";
import { questionEvent, type Question } from "../questions/index.ts";
import { isSteered, type Thread } from "../thread/index.ts";
import { MAIN } from "../view/index.ts";
import { AgentReplay, type Frame, type TimedEvent } from "./agent-replay.ts";
import { BRIEF, frameOfCheckpoint, framesOf, newest, TOOLS } from "./frames.ts";

export interface ReplayOptions {
  /** The state to replay up to. Default: the newest. */
  state?: StateSnapshot;
  /** The questions that are open at the end. Default: those of the state. */
  questions?: readonly Question[];
  /** The error of its last run, and the task of that run, which may be missing in the thread. */
  failure?: { error: string; task?: string };
  /** Whether it is running: then the last run has no end yet. */
  isRunning?: boolean;
  /** The time, in epoch milliseconds, after which events of sub-agents are left out. Default: none is. */
  until?: number;
}

/**
 * The events that the runs of a saved thread would have had, up to `state`, including sub-agents: surfaces draw old runs
 * with the same code. Missing is what is not saved: pieces of text, running calls of a sub-agent, and a sub-agent of a
 * sub-agent until it has ended.
 */
export async function replay(thread: Thread, options: ReplayOptions = {}): Promise<RunEvent[]> {
  const { graph } = thread.agent;
  const { state = await thread.state(), until = Infinity } = options;
  const { questions = await thread.questions(state) } = options;
  const frames = await framesOf(graph, state);
  const { run } = (state.values ?? {}) as { run?: RunSettings };
  const events = new RunEventList(thread.id, run?.model ?? "", run?.dir);
  const { checkpointer: saver } = graph;
  const open = new Set(Object.values(readBackground(state.values).jobs).map(({ call }) => call));
  events.main.expect(frames.at(-1)?.messages.slice() ?? []);
  for (const frame of frames) {
    events.tell(frame);
    if (typeof saver !== "object") continue;
    events.note(await helpersOf(events.main, frame, { saver, thread: thread.id, until, open }));
  }
  events.end(state, { ...options, questions });
  // Background work overlaps with later events.
  return events.list.toSorted((a, b) => a.at - b.at);
}

interface Saved {
  saver: BaseCheckpointSaver;
  thread: string;
  until: number;
  /** The calls whose sub-agents are still running in the background. */
  open: ReadonlySet<string>;
}

/** Events of the sub-agents that ran from a frame, by time. */
async function helpersOf(agent: AgentReplay, { jobs }: Frame, saved: Saved): Promise<TimedEvent[]> {
  const events: TimedEvent[] = [];
  for (const { call, ns } of jobs) {
    const helper = agent.helper(call);
    if (!helper) continue;
    const frames = await helperFrames(ns, saved);
    helper.expect(frames.at(-1)?.messages.slice() ?? []);
    for (const frame of frames) {
      events.push(...helper.tell(frame), ...(await helpersOf(helper, frame, saved)));
    }
    if (helper.isInBackground && !saved.open.has(call)) events.push(...agent.endOf(call));
  }
  return events.toSorted((a, b) => a.at - b.at);
}

/** The checkpoints of a sub-agent, oldest first. LangGraph's history has none of graphs that a tool runs. */
async function helperFrames(ns: string, { saver, thread, until }: Saved): Promise<Frame[]> {
  const frames: Frame[] = [];
  const config = { configurable: { thread_id: thread, checkpoint_ns: ns } };
  for await (const saved of saver.list(config, BRIEF)) {
    if (Date.parse(saved.checkpoint.ts) > until) continue;
    frames.push(frameOfCheckpoint(saved, endedJobs(ns, saved.pendingWrites ?? [])));
  }
  return frames.toReversed();
}

/** The ended calls of a step, by the results that their tasks wrote. */
function endedJobs(ns: string, writes: readonly CheckpointPendingWrite[]): Frame["jobs"] {
  return writes.flatMap(([task, channel, value]) => {
    if (channel !== "messages" || !Array.isArray(value)) return [];
    const results = value.filter((message) => ToolMessage.isInstance(message));
    return results.map(({ tool_call_id: call }) => ({ call, ns: `${ns}|${TOOLS}:${task}` }));
  });
}

/** The events of a thread, grouped into runs. */
class RunEventList {
  readonly list: RunEvent[] = [];
  readonly main = new AgentReplay(MAIN);
  readonly #thread: string;
  readonly #model: string;
  readonly #dir: string | undefined;
  #task: string | undefined;
  #usage: Usage = NO_TOKENS;
  /** The thread's idle time: at the first answer of the run, and now. */
  #idle: { before?: number; now: number } = { now: 0 };
  /** The latest time of an event so far. */
  #latest = 0;

  constructor(thread: string, model: string, dir: string | undefined) {
    this.#thread = thread;
    this.#model = model;
    this.#dir = dir;
  }

  tell(frame: Frame): void {
    const onForeign = (message: BaseMessage, at: number): TimedEvent[] => {
      if (!isFromUser(message)) return [];
      if (!isSteered(message) || this.#task === undefined) return this.#start(textOf(message));
      return [{ at, body: { type: "message", text: textOf(message) } }];
    };
    this.note(this.main.tell(frame, onForeign));
    // The first answer of a run adds the time before the run.
    const isAnswered = (): boolean =>
      AIMessage.isInstance(newest(frame.messages, (message) => !ToolMessage.isInstance(message)));
    const before = this.#idle.before ?? (isAnswered() ? frame.idle : undefined);
    this.#idle = { now: frame.idle, before };
  }

  note(events: Iterable<TimedEvent>): void {
    for (const { at, body } of events) this.#emit(body, at);
  }

  end(state: StateSnapshot, { questions = [], isRunning = false, failure }: ReplayOptions): void {
    for (const question of questions) this.#emit(questionEvent(question));
    if (isRunning) return;
    if (failure?.task !== undefined && failure.task !== this.#task) this.#start(failure.task);
    if (this.#task === undefined) return;
    if (questions.length > 0) this.#close(ending(state, "waiting"));
    else if (failure) this.#close({ ...ending(state, "failed"), error: failure.error });
    else this.#close(ending(state, isStateUnfinished(state) ? "open" : "done"));
  }

  /** Ends the run before a task of the user, and starts one. */
  #start(task: string): TimedEvent[] {
    const { todos, rules, answer } = this.main;
    const resumed = this.#task !== undefined;
    if (resumed) this.#close({ outcome: "done", counts: countTodos([...todos]), answer });
    this.#task = task.trim();
    this.#usage = NO_TOKENS;
    this.#idle = { now: this.#idle.now };
    const dir = this.#dir === undefined ? {} : { dir: this.#dir };
    this.#emit({ type: "run-start", model: this.#model, task, resumed, ...dir });
    if (resumed && todos.length > 0 && !isFinished(todos)) {
      this.#emit({ type: "plan-snapshot", owner: MAIN, todos: [...todos], rules: [...rules] });
    }
    return [];
  }

  #close(end: ReturnType<typeof ending>): void {
    const { now, before = now } = this.#idle;
    const waited = now > before ? { waitedMs: now - before } : {};
    const exitCode = OUTCOME_CODES[end.outcome];
    this.#emit({ type: "run-end", ...end, exitCode, usage: this.#usage, ...waited });
  }

  #emit({ type, ...rest }: RunEventBody, at = Math.max(this.main.at, this.#latest)): void {
    this.#latest = Math.max(at, this.#latest);
    const event = { type, version: 1, at, thread: this.#thread, ...rest } as RunEvent;
    if (event.type === "model-end") this.#usage = sumTokens(this.#usage, event.usage);
    this.list.push(event);
  }
}
