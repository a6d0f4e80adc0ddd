import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver, StateSnapshot } from "@langchain/langgraph";
import type { CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";
import type { ContextMemory } from "../../middleware/context-memory/index.ts";
import { NO_TOKENS, sumTokens } from "../../middleware/prices/index.ts";
import { isFromUser } from "../../middleware/text/index.ts";
import { countTodos, type Todo } from "../../plan/index.ts";
import { readBackground } from "../../subagents/index.ts";
import {
  ending,
  isUnfinished,
  type RunEvent,
  type RunEventBody,
  type Usage,
  OUTCOME_CODES,
} from "../events/index.ts";
import type { RunGraph, RunSettings } from "../prepare/index.ts";
import { questionEvent, type Question } from "../questions/index.ts";
import { isSteered, type Thread, openCalls } from "../thread/index.ts";
import { MAIN } from "../view/index.ts";
import { AgentReplay, type Frame, type TimedEvent } from "./agent-replay.ts";

interface Values {
  messages?: BaseMessage[];
  todos?: Todo[];
  planRules?: string[];
  run?: RunSettings;
  _context?: ContextMemory;
  _plan?: { idle?: number };
}

/** Past so many checkpoints the oldest are read as one. */
const MOST_FRAMES = 2000;

export interface ReplayOptions {
  /** The state to replay up to. Default: the newest. */
  state?: StateSnapshot;
  /** The questions that are open at the end. Default: those of the state. */
  questions?: readonly Question[];
  /** Why its last run failed, and what that was asked for, which may be nowhere in the thread. */
  failure?: { error: string; task?: string } | undefined;
  /** Whether it is still at work: then the last run has no end yet. */
  isRunning?: boolean;
  /** Epoch milliseconds: what sub-agents did later is left out. A step's own checkpoint comes when all have ended. */
  until?: number | undefined;
}

/**
 * A saved thread as the events that its runs would have had, up to `state`, sub-agents included: who shows runs shows
 * old ones with the same code. What only a listener could know is missing: pieces of text, calls under way in a
 * sub-agent, and a sub-agent of a sub-agent until it has ended.
 */
export async function replay(thread: Thread, options: ReplayOptions = {}): Promise<RunEvent[]> {
  const { graph } = thread.agent;
  const { state = await thread.state(), until = Infinity } = options;
  const { questions = await thread.questions(state) } = options;
  const frames = await framesOf(graph, state);
  const { run } = (state.values ?? {}) as Values;
  const story = new Story(thread.id, run?.model ?? "", run?.dir);
  const { checkpointer: saver } = graph;
  const open = new Set(Object.values(readBackground(state.values).jobs).map(({ call }) => call));
  story.main.expect(frames.at(-1)?.messages ?? []);
  for (const frame of frames) {
    story.tell(frame);
    if (typeof saver !== "object") continue;
    story.note(await helpersOf(story.main, frame, { saver, thread: thread.id, until, open }));
  }
  story.end(state, { ...options, questions });
  // What was done in the background was done beside what came later.
  return story.events.toSorted((a, b) => a.at - b.at);
}

/** The checkpoints that led to a state, oldest first, and the state itself: it may have more than its checkpoint. */
async function framesOf(graph: RunGraph, state: StateSnapshot): Promise<Frame[]> {
  const { thread_id, checkpoint_id } = state.config.configurable ?? {};
  if (checkpoint_id === undefined) return [];
  const frames: Frame[] = [frameOf(state)];
  let parent: unknown = state.parentConfig?.configurable?.["checkpoint_id"];
  const before = { configurable: { thread_id, checkpoint_id } };
  const earlier = graph.getStateHistory({ configurable: { thread_id } }, { before, limit: MOST_FRAMES });
  for await (const one of earlier) {
    // A thread that was taken back to an earlier checkpoint has others that did not lead here.
    if (one.config.configurable?.["checkpoint_id"] !== parent) continue;
    parent = one.parentConfig?.configurable?.["checkpoint_id"];
    frames.push(frameOf(one));
  }
  return frames.toReversed();
}

function frameOf({ values, createdAt, metadata, tasks }: StateSnapshot): Frame {
  const { messages = [], todos = [], planRules: rules = [], _context, _plan } = (values ?? {}) as Values;
  const isEdit = (metadata?.source as string | undefined) === "update";
  const at = createdAt === undefined ? 0 : Date.parse(createdAt);
  const { idle = 0 } = _plan ?? {};
  return {
    at,
    idle,
    isEdit,
    messages,
    todos,
    rules,
    summary: _context?.summary,
    jobs: jobsOf(messages, tasks),
  };
}

const TOOLS = "tools";

/** LangGraph has a task for each call of a turn that is to be run, in their order. */
function jobsOf(messages: readonly BaseMessage[], tasks: StateSnapshot["tasks"]): Frame["jobs"] {
  const due = tasks.filter(({ name }) => name === TOOLS);
  if (due.length === 0) return [];
  const turn = messages.findLast((message) => AIMessage.isInstance(message));
  const calls = (turn?.tool_calls ?? []).flatMap(({ id }) => id ?? []);
  const open = openCalls(messages).flatMap(({ id }) => id ?? []);
  const run = [calls, open].find(({ length }) => length === due.length) ?? [];
  return run.map((call, at) => ({ call, ns: `${TOOLS}:${due[at]!.id}` }));
}

interface Saved {
  saver: BaseCheckpointSaver;
  thread: string;
  until: number;
  /** The calls whose sub-agents are still at work in the background. */
  open: ReadonlySet<string>;
}

/** Events of the sub-agents that were run from a frame, in the order of time. */
async function helpersOf(agent: AgentReplay, { jobs }: Frame, saved: Saved): Promise<TimedEvent[]> {
  const told: TimedEvent[] = [];
  for (const { call, ns } of jobs) {
    const helper = agent.helper(call);
    if (!helper) continue;
    const frames = await helperFrames(ns, saved);
    helper.expect(frames.at(-1)?.messages ?? []);
    for (const frame of frames) {
      told.push(...helper.tell(frame), ...(await helpersOf(helper, frame, saved)));
    }
    if (helper.isInBackground && !saved.open.has(call)) told.push(...agent.endOf(call));
  }
  return told.toSorted((a, b) => a.at - b.at);
}

/** The checkpoints of a sub-agent, oldest first. LangGraph's history does not know of those that a tool runs. */
async function helperFrames(ns: string, { saver, thread, until }: Saved): Promise<Frame[]> {
  const frames: Frame[] = [];
  const config = { configurable: { thread_id: thread, checkpoint_ns: ns } };
  for await (const { checkpoint, metadata, pendingWrites } of saver.list(config, { limit: MOST_FRAMES })) {
    const at = Date.parse(checkpoint.ts);
    if (at > until) continue;
    const {
      messages = [],
      todos = [],
      planRules: rules = [],
      _context,
    } = checkpoint.channel_values as Values;
    const jobs = endedJobs(ns, pendingWrites ?? []);
    const isEdit = metadata?.source === "update";
    frames.push({ at, idle: 0, isEdit, messages, todos, rules, summary: _context?.summary, jobs });
  }
  return frames.toReversed();
}

/** The calls of a step that have ended: their results are written by their tasks. */
function endedJobs(ns: string, writes: readonly CheckpointPendingWrite[]): Frame["jobs"] {
  return writes.flatMap(([task, channel, value]) => {
    if (channel !== "messages" || !Array.isArray(value)) return [];
    const results = value.filter((message) => ToolMessage.isInstance(message));
    return results.map(({ tool_call_id: call }) => ({ call, ns: `${ns}|${TOOLS}:${task}` }));
  });
}

/** Puts what was told together to runs. */
class Story {
  readonly events: RunEvent[] = [];
  readonly main = new AgentReplay(MAIN);
  readonly #thread: string;
  readonly #model: string;
  readonly #dir: string | undefined;
  /** The task of the last run. */
  #task: string | undefined;
  #usage: Usage = NO_TOKENS;
  /** The thread's idle time: at the run's first answer, and now. */
  #idle: { before?: number; now: number } = { now: 0 };
  /** When the last was that was told. */
  #latest = 0;

  constructor(thread: string, model: string, dir: string | undefined) {
    this.#thread = thread;
    this.#model = model;
    this.#dir = dir;
  }

  tell(frame: Frame): void {
    const other = (message: BaseMessage): TimedEvent[] => {
      if (!isFromUser(message)) return [];
      if (!isSteered(message) || this.#task === undefined) return this.#start(message.text);
      return [{ at: frame.at, body: { type: "message", text: message.text } }];
    };
    this.note(this.main.tell(frame, other));
    // The first answer of a run adds the time before the run.
    const isAnswered = AIMessage.isInstance(
      frame.messages.findLast((message) => !ToolMessage.isInstance(message)),
    );
    const { before = isAnswered ? frame.idle : undefined } = this.#idle;
    this.#idle = { now: frame.idle, ...(before !== undefined && { before }) };
  }

  note(told: Iterable<TimedEvent>): void {
    for (const { at, body } of told) this.#emit(body, at);
  }

  end(state: StateSnapshot, { questions = [], isRunning = false, failure }: ReplayOptions): void {
    for (const question of questions) this.#emit(questionEvent(question));
    if (isRunning) return;
    if (failure?.task !== undefined && failure.task !== this.#task) this.#start(failure.task);
    if (this.#task === undefined) return;
    if (questions.length > 0) this.#close(ending(state, "waiting"));
    else if (failure) this.#close({ ...ending(state, "failed"), error: failure.error });
    else this.#close(ending(state, isUnfinished(state) ? "open" : "done"));
  }

  /** A task of the user ends the run before it, and begins one. */
  #start(task: string): TimedEvent[] {
    const { todos, rules, answer } = this.main;
    const resumed = this.#task !== undefined;
    if (resumed) this.#close({ outcome: "done", counts: countTodos([...todos]), answer });
    this.#task = task.trim();
    this.#usage = NO_TOKENS;
    this.#idle = { now: this.#idle.now };
    const dir = this.#dir === undefined ? {} : { dir: this.#dir };
    this.#emit({ type: "run-start", model: this.#model, task, resumed, ...dir });
    if (resumed && todos.length > 0) {
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
    this.events.push(event);
  }
}
