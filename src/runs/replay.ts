import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";
import { isFromUser } from "../middleware/from-user.ts";
import { withoutThoughts } from "../models/thoughts.ts";
import { countTodos, diffTodos, type Todo } from "../plan/index.ts";
import type { RunGraph } from "./agent.ts";
import { ending, isUnfinished } from "./ending.ts";
import type { RunEvent, RunEventBody, Usage } from "./events.ts";
import { OUTCOME_CODES } from "./exit-codes.ts";
import { questionEvent, type Question } from "./questions.ts";
import { detailsOf, ended, resultOf, usageOf } from "./recorder.ts";
import type { RunSettings } from "./settings.ts";
import { MAIN } from "./view.ts";

/** A saved thread at a moment. */
interface Frame {
  at: number;
  /** A person changed it, between two runs. */
  isEdit: boolean;
  messages: readonly BaseMessage[];
  todos: readonly Todo[];
}

interface Values {
  messages?: BaseMessage[];
  todos?: Todo[];
  run?: RunSettings;
}

/** Past so many checkpoints the oldest are read as one. */
const MOST_FRAMES = 2000;

export interface ReplayOptions {
  thread: string;
  /** What the thread waits for at the end. */
  questions?: readonly Question[];
  /** Whether it is still at work: then the last run has no end yet. */
  isRunning?: boolean;
}

/**
 * A saved thread as the events that its runs would have had, up to `state`: who shows runs shows old ones with the
 * same code. What only a listener could know is missing: pieces of text, and what sub-agents did.
 */
export async function replay(
  graph: RunGraph,
  state: StateSnapshot,
  options: ReplayOptions,
): Promise<RunEvent[]> {
  const frames = await framesOf(graph, state);
  const { run } = (state.values ?? {}) as Values;
  const story = new Story(options.thread, run?.model ?? "", run?.dir);
  for (const frame of frames) story.tell(frame);
  story.end(state, options);
  return story.events;
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

function frameOf({ values, createdAt, metadata }: StateSnapshot): Frame {
  const { messages = [], todos = [] } = (values ?? {}) as Values;
  const isEdit = (metadata?.source as string | undefined) === "update";
  return { at: createdAt === undefined ? 0 : Date.parse(createdAt), isEdit, messages, todos };
}

/** Turns what is new from frame to frame into events. */
class Story {
  readonly events: RunEvent[] = [];
  readonly #thread: string;
  readonly #model: string;
  readonly #dir: string | undefined;
  readonly #seen = new Set<string>();
  readonly #calls = new Map<string, { name: string; args: Record<string, unknown> }>();
  #todos: readonly Todo[] = [];
  #at = 0;
  #hasRun = false;
  #usage: Usage = NO_USAGE;
  #answer = "";

  constructor(thread: string, model: string, dir: string | undefined) {
    this.#thread = thread;
    this.#model = model;
    this.#dir = dir;
  }

  tell({ at, isEdit, messages, todos }: Frame): void {
    const before = this.#at;
    this.#at = at;
    for (const [index, message] of messages.entries()) {
      const id = message.id ?? `${index}`;
      if (this.#seen.has(id)) continue;
      this.#seen.add(id);
      this.#message(message, before || at);
    }
    this.#plan(todos, isEdit);
  }

  end(state: StateSnapshot, { questions = [], isRunning = false }: ReplayOptions): void {
    for (const question of questions) this.#emit(questionEvent(question));
    if (!this.#hasRun || isRunning) return;
    const outcome = questions.length > 0 ? "waiting" : isUnfinished(state) ? "open" : "done";
    this.#close(ending(state, outcome));
  }

  #message(message: BaseMessage, askedAt: number): void {
    if (isFromUser(message)) {
      if (this.#hasRun)
        this.#close({ outcome: "done", counts: countTodos([...this.#todos]), answer: this.#answer });
      this.#start(message.text);
    } else if (AIMessage.isInstance(message)) {
      const usage = usageOf(message);
      this.#usage = sum(this.#usage, usage);
      this.#answer = withoutThoughts(message.text);
      this.#emit({ type: "model-start", owner: MAIN }, askedAt);
      this.#emit({ type: "model-end", owner: MAIN, text: this.#answer, usage });
      for (const { id = "", name, args } of message.tool_calls ?? []) this.#call(id, name, args);
    } else if (ToolMessage.isInstance(message)) {
      this.#result(message);
    }
  }

  #start(task: string): void {
    const resumed = this.#hasRun;
    this.#hasRun = true;
    this.#usage = NO_USAGE;
    const dir = this.#dir === undefined ? {} : { dir: this.#dir };
    this.#emit({ type: "run-start", model: this.#model, task, resumed, ...dir });
    if (resumed && this.#todos.length > 0) {
      this.#emit({ type: "plan-snapshot", owner: MAIN, todos: [...this.#todos] });
    }
  }

  #call(call: string, name: string, args: Record<string, unknown>): void {
    this.#calls.set(call, { name, args });
    const details = detailsOf({ name, call, input: JSON.stringify(args) });
    this.#emit({ type: "tool-start", owner: MAIN, ...details });
    if (name !== TASK) return;
    const { subagent_type: helper = "", description = "", todo_id: todoId } = args as Record<string, string>;
    const who = { owner: `${MAIN}/${helper}:${call}`, name: helper, description };
    this.#emit({ type: "subagent-start", ...who, ...(todoId !== undefined && { todoId }) });
  }

  #result(message: ToolMessage): void {
    const { tool_call_id: call } = message;
    const { name, args } = this.#calls.get(call) ?? { name: message.name ?? "tool", args: {} };
    const result = resultOf(message);
    if (name === TASK) {
      const helper = String(args["subagent_type"]);
      this.#emit({ type: "subagent-end", owner: `${MAIN}/${helper}:${call}`, name: helper, ok: result.ok });
    }
    const details = detailsOf({ name, call, input: JSON.stringify(args) });
    this.#emit({ type: "tool-end", owner: MAIN, ...details, ...ended(result) });
  }

  #plan(todos: readonly Todo[], isEdit: boolean): void {
    const changes = diffTodos(this.#todos, todos);
    this.#todos = todos;
    if (changes.length === 0) return;
    const by = isEdit ? "person" : "model";
    this.#emit({
      type: "plan-change",
      owner: MAIN,
      by,
      changes,
      counts: countTodos([...todos]),
      todos: [...todos],
    });
  }

  #close(end: ReturnType<typeof ending>): void {
    this.#emit({ type: "run-end", ...end, exitCode: OUTCOME_CODES[end.outcome], usage: this.#usage });
  }

  #emit({ type, ...rest }: RunEventBody, at = this.#at): void {
    this.events.push({ type, version: 1, at, thread: this.#thread, ...rest } as RunEvent);
  }
}

const TASK = "task";
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

function sum(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
  };
}
