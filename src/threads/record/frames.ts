import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, StateSnapshot } from "@langchain/langgraph";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { ContextMemory } from "../../middleware/context-memory/index.ts";
import { NO_TOKENS, sumTokens, unsaidTokens, usedTokens } from "../../middleware/prices/index.ts";
import type { Todo } from "../../plan/index.ts";
import type { HistoryOptions, PartialList } from "../../storage/index.ts";
import type { RunGraph } from "../prepare/index.ts";
import { openCalls } from "../thread/index.ts";
import { TASK, type Frame } from "./agent-replay.ts";

interface Values {
  messages?: BaseMessage[];
  todos?: Todo[];
  planRules?: string[];
  _context?: ContextMemory;
  _plan?: { idle?: number };
}

/** The most checkpoints to read one by one; older ones are read as one. */
export const MOST_FRAMES = 2000;

/** How to read a history: the values in a frame, and no more. */
export const BRIEF: HistoryOptions = {
  limit: MOST_FRAMES,
  isBrief: true,
  channels: {
    messages: {},
    todos: {},
    planRules: {},
    _context: { keys: ["summary"] },
    _plan: { keys: ["idle"] },
  } satisfies Record<keyof Values, object>,
};

/** The checkpoints that led to a state, oldest first, and the state itself, which may have more than its checkpoint. */
export async function framesOf(graph: RunGraph, state: StateSnapshot): Promise<Frame[]> {
  if (checkpointOf(state.config) === undefined) return [];
  const { checkpointer: saver } = graph;
  if (typeof saver !== "object") return [frameOfState(state)];
  const { frames, takenBack } = await earlierFrames(graph, saver, state);
  return [...frames, { ...frameOfState(state), takenBack }];
}

/** A checkpoint in the history of a thread. It never changes. */
interface Step {
  id: string;
  frame: Frame;
}

/** The number of threads whose history stays in memory. */
const MOST_HISTORIES = 8;

/** The histories that were read last, by thread: a thread that has grown is read from there on. */
const histories = new WeakMap<BaseCheckpointSaver, Map<string, readonly Step[]>>();

/** The frames before a state, oldest first. */
async function earlierFrames(
  graph: RunGraph,
  saver: BaseCheckpointSaver,
  { config, parentConfig, metadata, values }: StateSnapshot,
): Promise<{ frames: Frame[]; takenBack: Frame["takenBack"] }> {
  const thread = config.configurable?.["thread_id"] as string;
  const known = histories.get(saver) ?? new Map<string, readonly Step[]>();
  histories.set(saver, known);
  const history = known.get(thread) ?? [];
  const places = new Map(history.map(({ id }, at) => [id, at]));
  const newSteps: Step[] = [];
  let parent = checkpointOf(parentConfig);
  // A copy follows the checkpoint before its original. Those in between did not lead here: an undo took them back.
  let isCopy = isFork(metadata);
  const isOpen = (): boolean => isCopy || (parent !== undefined && !places.has(parent));
  const takenBack = new TakenBack();
  let ofState: Frame["takenBack"];
  const attach = (): void => {
    const { frame } = newSteps.at(-1) ?? {};
    const { messages = [] } = frame ?? (values as Values);
    const spent = takenBack.take(messages);
    if (!spent) return;
    if (frame) frame.takenBack = spent;
    else ofState = spent;
  };
  const options: HistoryOptions = { ...BRIEF, before: config, omitsWrites: true };
  const place = { configurable: { thread_id: thread, checkpoint_ns: "" } };
  if (isOpen()) {
    for await (const saved of saver.list(place, options)) {
      const id = checkpointOf(saved.config)!;
      const frame = frameOfCheckpoint(saved, []);
      if (id !== parent) {
        if (isCopy) takenBack.add(frame, id, checkpointOf(saved.parentConfig));
        continue;
      }
      attach();
      isCopy = false;
      if (!isOpen()) break;
      parent = checkpointOf(saved.parentConfig);
      isCopy = isFork(saved.metadata);
      // LangGraph takes a millisecond to find out what is due: only sub-agents have work of their own in a step.
      newSteps.push({
        id,
        frame: startsHelpers(frame) ? frameOfState(await graph.getState(saved.config)) : frame,
      });
      if (!isOpen()) break;
    }
    attach();
  }
  const steps = history.slice(0, parent === undefined ? 0 : (places.get(parent) ?? -1) + 1);
  for (const { id, frame } of newSteps.toReversed()) {
    const messages = Prefix.of(frame, steps.at(-1)?.frame.messages);
    steps.push({ id, frame: { ...frame, messages } });
  }
  const latest = steps.slice(-MOST_FRAMES);
  known.delete(thread);
  known.set(thread, latest);
  const [oldest = ""] = known.keys();
  if (known.size > MOST_HISTORIES) known.delete(oldest);
  return { frames: latest.map(({ frame }) => frame), takenBack: ofState };
}

function isFork(metadata: { source?: unknown } | undefined): boolean {
  return metadata?.source === "fork";
}

/** The ends of branches that were taken back. */
class TakenBack {
  #ends: Frame[] = [];
  /** The checkpoints before those that were added. */
  readonly #parents = new Set<string>();

  add(frame: Frame, id: string, parent: string | undefined): void {
    if (!this.#parents.has(id)) this.#ends.push(frame);
    if (parent !== undefined) this.#parents.add(parent);
  }

  /** The tokens of the answers that are not among the messages that were kept. */
  take(kept: PartialList<BaseMessage>): Frame["takenBack"] {
    const [last] = this.#ends;
    if (!last) return undefined;
    const ids = new Set(kept.slice().map(({ id }) => id));
    let usage = NO_TOKENS;
    for (const message of this.#ends.flatMap(({ messages }) => messages.slice())) {
      if (!AIMessage.isInstance(message) || ids.has(message.id)) continue;
      ids.add(message.id);
      usage = [usedTokens(message), unsaidTokens(message) ?? NO_TOKENS].reduce(sumTokens, usage);
    }
    this.#ends = [];
    return { at: last.at, usage };
  }
}

function checkpointOf(config: RunnableConfig | undefined): string | undefined {
  return config?.configurable?.["checkpoint_id"] as string | undefined;
}

/** The first messages of a list that the next frames share: most frames only add messages. */
class Prefix {
  readonly length: number;
  readonly #all: BaseMessage[];

  private constructor(all: BaseMessage[], length: number) {
    this.#all = all;
    this.length = length;
  }

  static of({ messages, isEdit }: Frame, before: PartialList<BaseMessage> | undefined): Prefix {
    const { length } = messages;
    if (before instanceof Prefix && !isEdit && before.length > 0 && length >= before.length) {
      const [last, ...added] = messages.slice(before.length - 1);
      const isShared = last?.id !== undefined && last.id === before.#all[before.length - 1]!.id;
      // Another history of the thread may have added to the list.
      if (isShared && before.#all.length === before.length) {
        before.#all.push(...added);
        return new Prefix(before.#all, length);
      }
    }
    return new Prefix(messages.slice(), length);
  }

  slice(from = 0, to = this.length): BaseMessage[] {
    const at = (index: number): number => (index < 0 ? Math.max(0, this.length + index) : index);
    return this.#all.slice(at(from), Math.min(at(to), this.length));
  }
}

export function frameOfCheckpoint(
  { checkpoint, metadata }: Pick<CheckpointTuple, "checkpoint" | "metadata">,
  jobs: Frame["jobs"],
): Frame {
  const at = Date.parse(checkpoint.ts);
  return frameOf(checkpoint.channel_values, { at, isEdit: metadata?.source === "update", jobs });
}

/** The number of messages to read first, from the end of a list; then twice as many each time. */
const TAIL = 2;

/** The newest message for which `isMatch` is true. */
export function newest(
  messages: PartialList<BaseMessage>,
  isMatch: (message: BaseMessage) => boolean,
): BaseMessage | undefined {
  for (let end = messages.length, count = TAIL; end > 0; end -= count, count *= 2) {
    const match = messages.slice(Math.max(0, end - count), end).findLast(isMatch);
    if (match) return match;
  }
  return undefined;
}

/** Whether the newest answer calls sub-agents. */
function startsHelpers({ messages }: Frame): boolean {
  const last = newest(messages, (message) => !ToolMessage.isInstance(message));
  return AIMessage.isInstance(last) && (last.tool_calls ?? []).some(({ name }) => name === TASK);
}

function frameOfState({ values, createdAt, metadata, tasks }: StateSnapshot): Frame {
  const saved = (values ?? {}) as Values;
  const isEdit = (metadata?.source as string | undefined) === "update";
  const at = createdAt === undefined ? 0 : Date.parse(createdAt);
  return frameOf(saved, { at, isEdit, jobs: jobsOf(saved.messages ?? [], tasks) });
}

function frameOf(values: Values, rest: Pick<Frame, "at" | "isEdit" | "jobs">): Frame {
  const { messages = [], todos = [], planRules: rules = [], _context, _plan } = values;
  return { ...rest, idle: _plan?.idle ?? 0, messages, todos, rules, summary: _context?.summary };
}

export const TOOLS = "tools";

/** The calls that are due, with their namespaces. LangGraph has a task for each, in the same order. */
function jobsOf(messages: readonly BaseMessage[], tasks: StateSnapshot["tasks"]): Frame["jobs"] {
  const due = tasks.filter(({ name }) => name === TOOLS);
  if (due.length === 0) return [];
  const turn = messages.findLast((message) => AIMessage.isInstance(message));
  const calls = (turn?.tool_calls ?? []).flatMap(({ id }) => id ?? []);
  const open = openCalls(messages).flatMap(({ id }) => id ?? []);
  const run = [calls, open].find(({ length }) => length === due.length) ?? [];
  return run.map((call, at) => ({ call, ns: `${TOOLS}:${due[at]!.id}` }));
}
