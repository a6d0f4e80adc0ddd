import { setTimeout as sleep } from "node:timers/promises";
import type { MessageContent } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { Ledger, ThreadStore } from "../../storage/index.ts";
import { keepMessage, type KeptMessage, keptMessages } from "../edit/index.ts";
import { isAsking, type Thread } from "../thread/index.ts";

/** The interval of checks whether an agent has read a message. */
const LOOK_MS = 200;

/** The parts of a host that deliver messages. */
interface MessageHost {
  checkpointer: BaseCheckpointSaver & Partial<Pick<ThreadStore, "threadsWithMail" | "getThread">>;
  ledger: Pick<Ledger, "thread">;
  graphs: ReadonlyMap<string, unknown>;
  isBusy: (thread: string) => boolean | Promise<boolean>;
  isReady: () => boolean | Promise<boolean>;
  thread: (id: string) => {
    read: () => Promise<Thread>;
    start: (message: MessageContent, options: { strategy: "enqueue" }) => Promise<unknown>;
  };
}

/**
 * Stores a message for the agent at work on a thread, which reads it at its next call; if it does not, the message is the
 * next task. Returns false if no agent is at work, in any process, or its thread is not saved yet.
 */
export async function leaveMessage(
  host: MessageHost,
  thread: string,
  content: MessageContent,
): Promise<boolean> {
  if (!(await isAtWork(host, thread))) return false;
  const message = await keepMessage(await host.thread(thread).read(), content);
  if (message) void deliverAll(host, thread, [message]);
  return message !== undefined;
}

/** Delivers the messages that are left of killed servers. */
export async function deliverKept(host: MessageHost): Promise<void> {
  for (const thread of (await host.checkpointer.threadsWithMail?.()) ?? []) {
    const hosted = await host.ledger.thread(thread);
    if (!hosted || !host.graphs.has(hosted.graph)) continue;
    void deliverAll(host, thread, await keptMessages(await host.thread(thread).read()));
  }
}

async function deliverAll(
  host: MessageHost,
  thread: string,
  messages: readonly KeptMessage[],
): Promise<void> {
  try {
    for (const message of messages) await deliver(host, thread, message);
  } catch {
    // For example a store that is closed: the messages stay stored for the next run or the next server.
  }
}

/** Follows a message until an agent has read it. A thread that waits for an answer reads it with the run of the answer. */
async function deliver(host: MessageHost, thread: string, message: KeptMessage): Promise<void> {
  while (!(await message.isRead())) {
    if (!(await isAtWork(host, thread))) {
      if (!(await host.isReady()) || (await isAsking(host.checkpointer, thread))) return;
      if (await message.takeBack()) await startWith(host, thread, message);
      return;
    }
    await sleep(LOOK_MS, undefined, { ref: false });
  }
}

async function isAtWork(host: MessageHost, thread: string): Promise<boolean> {
  if (await host.isBusy(thread)) return true;
  return (await host.checkpointer.getThread?.(thread))?.state === "running";
}

async function startWith(host: MessageHost, id: string, { content }: KeptMessage): Promise<void> {
  const thread = host.thread(id);
  try {
    await thread.start(content, { strategy: "enqueue" });
  } catch (error) {
    await keepMessage(await thread.read(), content);
    throw error;
  }
}
