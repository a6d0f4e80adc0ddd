import type { BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { isFromUser } from "../middleware/from-user.ts";
import type { RunAgent } from "./agent.ts";
import { copyThread } from "./host/copy-thread.ts";

/** A message of the user in a thread. */
export interface EarlierMessage {
  id: string;
  text: string;
  /** Whether it was handed to an agent at work: it began no turn of its own. */
  isHandedOver: boolean;
  /** The checkpoint of the thread as it was before; absent for the first message. */
  before?: string;
}

interface Saved {
  id: string;
  isInput: boolean;
  said: readonly BaseMessage[];
}

/** What the user said in a thread, oldest first, with the way back to before each of it. */
export async function earlierMessages({ graph }: RunAgent, thread: string): Promise<EarlierMessage[]> {
  const line: Saved[] = [];
  let parent: unknown;
  for await (const state of graph.getStateHistory({ configurable: { thread_id: thread } })) {
    const id = String(state.config.configurable?.["checkpoint_id"]);
    // A thread that was taken back has checkpoints that did not lead here.
    if (line.length > 0 && id !== parent) continue;
    parent = state.parentConfig?.configurable?.["checkpoint_id"];
    const { messages = [] } = (state.values ?? {}) as { messages?: BaseMessage[] };
    line.unshift({ id, isInput: state.metadata?.source === "input", said: messages.filter(isFromUser) });
  }
  const known = new Set<string>();
  return line.flatMap(({ said, isInput }, at) => {
    const fresh = said.filter(({ id = "" }) => !known.has(id));
    for (const { id = "" } of fresh) known.add(id);
    // The checkpoint of the input has the message already, not yet in its place.
    const before = line[line[at - 1]?.isInput ? at - 2 : at - 1]?.id;
    const isHandedOver = at > 0 && !isInput && !line[at - 1]?.isInput;
    return fresh.map(({ id = "", text }) => ({
      id,
      text,
      isHandedOver,
      ...(before !== undefined && { before }),
    }));
  });
}

/** How many messages a model is sent of a thread. */
export async function messageCount({ graph }: RunAgent, thread: string): Promise<number> {
  const { values } = await graph.getState({ configurable: { thread_id: thread } });
  return (values as { messages?: BaseMessage[] }).messages?.length ?? 0;
}

/** Takes a thread back to before a message. What came after is not in its line any more. */
export async function takeBack({ graph }: RunAgent, thread: string, before: string): Promise<void> {
  await graph.updateState({ configurable: { thread_id: thread, checkpoint_id: before } }, null, "__copy__");
}

/** Makes another thread of what there was before a message. */
export async function forkBefore(
  saver: BaseCheckpointSaver,
  { from, to, before }: { from: string; to: string; before: string },
): Promise<void> {
  await copyThread(saver, { from, to, checkpoint: before });
}
