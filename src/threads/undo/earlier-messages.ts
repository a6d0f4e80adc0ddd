import { BaseMessage } from "@langchain/core/messages";
import {
  emptyCheckpoint,
  messagesStateReducer,
  type BaseCheckpointSaver,
  type CheckpointTuple,
} from "@langchain/langgraph";
import { readContext } from "../../middleware/context-memory/index.ts";
import { compose } from "../../middleware/summarization/index.ts";
import { isFromUser } from "../../middleware/text/index.ts";
import { INPUT_TASK } from "../plan/index.ts";
import type { RunSettings } from "../prepare/index.ts";
import type { Thread } from "../thread/index.ts";

export interface EarlierMessage {
  id: string;
  text: string;
  /** Whether it was sent to the agent at work, and started no turn of its own. */
  isHandedOver: boolean;
  /** The checkpoint before it; absent for the first message. */
  before?: string;
}

/**
 * The user's messages of a thread, newest first, each with the checkpoint before it. Reads only as far as it is iterated,
 * and loads a checkpoint's messages only if its writes do not tell them.
 */
export async function* earlierMessages({
  agent: { graph },
  id: thread,
}: Thread): AsyncGenerator<EarlierMessage> {
  const yielded = new Set<string>();
  /** The user's messages up to the current checkpoint, once they are loaded. */
  let messages: readonly BaseMessage[] | undefined;
  for await (const [saved, parent, grandparent] of lineOf(
    graph.checkpointer as BaseCheckpointSaver,
    thread,
  )) {
    const written = writtenBetween(saved, parent);
    if (written?.length === 0) continue;
    messages ??= userMessagesIn(saved);
    // A step may rewrite a message, so writes are not enough in general. They are for an input at the end of the list,
    // except for the newest message, to which an undo goes back.
    const isInputOnly = yielded.size > 0 && parent && isInput(parent) && written && isEnd(messages, written);
    const earlier: readonly BaseMessage[] = isInputOnly
      ? messages.slice(0, -written.length)
      : parent
        ? userMessagesIn(parent)
        : [];
    const fresh = isInputOnly ? messages.slice(-written.length) : without(messages, earlier);
    messages = earlier;
    // The checkpoint of the input has the message already, as a write.
    const before = parent && isInput(parent) ? grandparent : parent;
    const isHandedOver = parent !== undefined && !isInput(saved) && !isInput(parent);
    for (const { id = "", text } of fresh.toReversed()) {
      if (yielded.has(id)) continue;
      yielded.add(id);
      yield { id, text, isHandedOver, ...(before && { before: idOf(before) }) };
    }
  }
}

/** The user's last message; undefined if there is none. */
export async function lastMessage(thread: Thread): Promise<EarlierMessage | undefined> {
  for await (const message of earlierMessages(thread)) return message;
  return undefined;
}

type Step = [saved: CheckpointTuple, parent?: CheckpointTuple, grandparent?: CheckpointTuple];

/** The checkpoints that led to the newest, newest first, each with the two before it. */
async function* lineOf(saver: BaseCheckpointSaver, thread: string): AsyncGenerator<Step> {
  const step: CheckpointTuple[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: thread, checkpoint_ns: "" } })) {
    // After an undo there are checkpoints that did not lead here.
    const last = step.at(-1);
    if (last && idOf(tuple) !== last.parentConfig?.configurable?.["checkpoint_id"]) continue;
    if (step.push(tuple) < 3) continue;
    yield [...step] as Step;
    step.shift();
  }
  for (; step.length > 0; step.shift()) yield [...step] as Step;
}

/**
 * The ids of the user's messages between a checkpoint and its parent, from the writes in between. Undefined if these do
 * not tell.
 */
function writtenBetween(saved: CheckpointTuple, parent: CheckpointTuple | undefined): string[] | undefined {
  if (!parent || messageWrites(saved, INPUT_TASK).length > 0) return undefined;
  const { channel_versions: now } = saved.checkpoint;
  if (now[MESSAGES] === parent.checkpoint.channel_versions[MESSAGES]) return [];
  // With some durability settings not every step is saved.
  if (saved.metadata?.step !== (parent.metadata?.step ?? 0) + 1) return undefined;
  const written = messageWrites(parent).flat();
  const isPlain = (item: unknown): item is BaseMessage =>
    BaseMessage.isInstance(item) && item.type !== "remove" && !(isFromUser(item) && item.id === undefined);
  if (written.length === 0 || !written.every(isPlain)) return undefined;
  return written.filter(isFromUser).map(({ id }) => id!);
}

function isEnd(messages: readonly BaseMessage[], ids: readonly string[]): boolean {
  return ids.every((id, at) => messages.at(at - ids.length)?.id === id);
}

function without(messages: readonly BaseMessage[], others: readonly BaseMessage[]): BaseMessage[] {
  const ids = new Set(others.map(({ id }) => id));
  return messages.filter(({ id }) => !ids.has(id));
}

function userMessagesIn(tuple: CheckpointTuple): BaseMessage[] {
  const { [MESSAGES]: messages = [] } = tuple.checkpoint.channel_values as { messages?: BaseMessage[] };
  // Including messages that were sent to the agent at work, which are input of the waiting step.
  const handedOver = messageWrites(tuple, INPUT_TASK) as BaseMessage[][];
  return handedOver.reduce((all, some) => messagesStateReducer(all, some), messages).filter(isFromUser);
}

const MESSAGES = "messages";

/** The writes of tasks, or of one task, to `messages` after a checkpoint. */
function messageWrites({ pendingWrites = [] }: CheckpointTuple, by?: string): unknown[] {
  return pendingWrites.flatMap(([task, channel, value]) =>
    channel === MESSAGES && (by === undefined || task === by) ? [value] : [],
  );
}

function isInput({ metadata }: CheckpointTuple): boolean {
  return metadata?.source === "input";
}

function idOf({ config }: CheckpointTuple): string {
  return config.configurable?.["checkpoint_id"] as string;
}

/** A shorter conversation is not worth a summary. */
const SHORTEST = 6;

/** The current number of messages in requests, to summarize them now; undefined if the conversation is short. */
export async function compactAt(thread: Thread): Promise<number | undefined> {
  const { values } = await thread.state();
  const { messages = [] } = values as { messages?: BaseMessage[] };
  const { length } = compose(messages, readContext(values)).messages;
  return length < SHORTEST ? undefined : length;
}

/** Makes a copy of an earlier checkpoint the newest one. */
export async function takeBack({ agent: { graph }, id }: Thread, before: string): Promise<void> {
  await graph.updateState({ configurable: { thread_id: id, checkpoint_id: before } }, null, "__copy__");
}

/** Makes an empty state with the thread's settings the newest one. The caller holds the thread. */
export async function emptyThread(thread: Thread): Promise<void> {
  const { run } = (await thread.state()).values as { run?: RunSettings };
  const saver = thread.agent.graph.checkpointer as BaseCheckpointSaver;
  const place = { thread_id: thread.id, checkpoint_ns: "" };
  const empty = emptyCheckpoint();
  const versions: Record<string, string | number> = run ? { run: saver.getNextVersion(undefined) } : {};
  // With the settings from the start: without them the thread would be another program's, should a kill come now.
  const checkpoint = { ...empty, ...(run && { channel_values: { run }, channel_versions: versions }) };
  await saver.put({ configurable: place }, checkpoint, { source: "fork", step: -1, parents: {} }, versions);
  if (run) await thread.create(run);
}
