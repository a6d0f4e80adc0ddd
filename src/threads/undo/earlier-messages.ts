import { BaseMessage } from "@langchain/core/messages";
import { messagesStateReducer, type BaseCheckpointSaver, type CheckpointTuple } from "@langchain/langgraph";
import { readContext } from "../../middleware/context-memory/index.ts";
import { compose } from "../../middleware/summarization/index.ts";
import { isFromUser } from "../../middleware/text/index.ts";
import { INPUT_TASK } from "../plan/index.ts";
import type { Thread } from "../thread/index.ts";

/** A message of the user in a thread. */
export interface EarlierMessage {
  id: string;
  text: string;
  /** Whether it was handed to an agent at work: it began no turn of its own. */
  isHandedOver: boolean;
  /** The checkpoint of the thread as it was before; absent for the first message. */
  before?: string;
}

/**
 * The user's messages of a thread, newest first, each with the checkpoint before it. Reads back only as far as it is
 * iterated, and loads a checkpoint's messages only where the writes do not tell them.
 */
export async function* earlierMessages({
  agent: { graph },
  id: thread,
}: Thread): AsyncGenerator<EarlierMessage> {
  const told = new Set<string>();
  /** The user's messages up to the current checkpoint, once they are known. */
  let said: readonly BaseMessage[] | undefined;
  for await (const [saved, parent, grandparent] of lineOf(
    graph.checkpointer as BaseCheckpointSaver,
    thread,
  )) {
    const written = writtenBetween(saved, parent);
    if (written?.length === 0) continue;
    said ??= saidIn(saved);
    // A step may write a message anew; an input that ends the list is believed, but for the one to go back to first.
    const isBelieved = told.size > 0 && parent && isInput(parent) && written && isEnd(said, written);
    const known: readonly BaseMessage[] = isBelieved
      ? said.slice(0, -written.length)
      : parent
        ? saidIn(parent)
        : [];
    const fresh = isBelieved ? said.slice(-written.length) : without(said, known);
    said = known;
    // The checkpoint of the input has the message already, not yet in its place.
    const before = parent && isInput(parent) ? grandparent : parent;
    const isHandedOver = parent !== undefined && !isInput(saved) && !isInput(parent);
    for (const { id = "", text } of fresh.toReversed()) {
      if (told.has(id)) continue;
      told.add(id);
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
    // A thread that was taken back has checkpoints that did not lead here.
    const last = step.at(-1);
    if (last && idOf(tuple) !== last.parentConfig?.configurable?.["checkpoint_id"]) continue;
    if (step.push(tuple) < 3) continue;
    yield [...step] as Step;
    step.shift();
  }
  for (; step.length > 0; step.shift()) yield [...step] as Step;
}

/**
 * The ids of what the user said between a checkpoint and its parent, by what was written in between. Undefined where
 * that does not tell.
 */
function writtenBetween(saved: CheckpointTuple, parent: CheckpointTuple | undefined): string[] | undefined {
  if (!parent || messageWrites(saved, INPUT_TASK).length > 0) return undefined;
  const { channel_versions: now } = saved.checkpoint;
  if (now[MESSAGES] === parent.checkpoint.channel_versions[MESSAGES]) return [];
  // Not every step is saved where a run is told so.
  if (saved.metadata?.step !== (parent.metadata?.step ?? 0) + 1) return undefined;
  const written = messageWrites(parent).flat();
  const isPlain = (item: unknown): item is BaseMessage =>
    BaseMessage.isInstance(item) && item.type !== "remove" && !(isFromUser(item) && item.id === undefined);
  if (written.length === 0 || !written.every(isPlain)) return undefined;
  return written.filter(isFromUser).map(({ id }) => id!);
}

function isEnd(said: readonly BaseMessage[], ids: readonly string[]): boolean {
  return ids.every((id, at) => said.at(at - ids.length)?.id === id);
}

function without(said: readonly BaseMessage[], known: readonly BaseMessage[]): BaseMessage[] {
  const ids = new Set(known.map(({ id }) => id));
  return said.filter(({ id }) => !ids.has(id));
}

function saidIn(tuple: CheckpointTuple): BaseMessage[] {
  const { [MESSAGES]: messages = [] } = tuple.checkpoint.channel_values as { messages?: BaseMessage[] };
  // What was handed over before the step goes on belongs to it already.
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

/** The number of messages at which a conversation is summarized now; undefined if it is short. */
export async function compactAt(thread: Thread): Promise<number | undefined> {
  const { values } = await thread.state();
  const { messages = [] } = values as { messages?: BaseMessage[] };
  const { length } = compose(messages, readContext(values)).messages;
  return length < SHORTEST ? undefined : length;
}

/** Takes a thread back to before a message. What came after is not in its line any more. */
export async function takeBack({ agent: { graph }, id }: Thread, before: string): Promise<void> {
  await graph.updateState({ configurable: { thread_id: id, checkpoint_id: before } }, null, "__copy__");
}
