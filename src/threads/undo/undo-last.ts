import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { Thread } from "../thread/index.ts";
import {
  earlierMessages,
  emptyThread,
  lastMessage,
  takeBack,
  type EarlierMessage,
} from "./earlier-messages.ts";
import { fileCallsIn } from "./file-calls.ts";
import type { FileCopies, Restored } from "./file-copies.ts";

/** The message that was taken back, and its files. */
export interface UndoResult extends Pick<EarlierMessage, "text" | "isHandedOver"> {
  /** Whether the thread began with it: then only the settings of the thread are left. */
  isFirst: boolean;
  /** Whether commands, or sub-agents that may have run some, ran since the message. */
  hadCommands: boolean;
  files: Restored;
}

/**
 * Takes back the last message of a thread: the conversation, the plan, and the files that file tools changed. Returns
 * undefined if there is none. Throws `thread-busy`.
 */
export async function undoLast(
  thread: Thread,
  copies: FileCopies | undefined,
): Promise<UndoResult | undefined> {
  const release = await thread.acquire();
  try {
    const last = await lastMessage(thread);
    if (!last) return undefined;
    const { id, text, isHandedOver, before } = last;
    const turn = await messagesSince(thread, id);
    const changed = isHandedOver ? [] : changedIn(turn);
    const files = copies?.restore(id, changed) ?? {
      restored: [],
      changed: [],
      missed: [],
    };
    await (before === undefined ? emptyThread(thread) : takeBack(thread, before));
    copies?.forget(id);
    return {
      text,
      isHandedOver,
      isFirst: before === undefined,
      hadCommands: turn.some(mayRunCommands),
      files,
    };
  } finally {
    await release();
  }
}

/** A message, and all after it. */
async function messagesSince(thread: Thread, message: string): Promise<BaseMessage[]> {
  const { messages = [] } = (await thread.state()).values as { messages?: BaseMessage[] };
  const start = messages.findIndex(({ id }) => id === message);
  return start < 0 ? [] : messages.slice(start);
}

/** The files that the agent's own calls changed. */
function changedIn(turn: BaseMessage[]): string[] {
  const calls = fileCallsIn([turn]);
  return calls.flatMap(({ args: { file_path: path } }) => (typeof path === "string" ? path : []));
}

function mayRunCommands(message: BaseMessage): boolean {
  if (!AIMessage.isInstance(message)) return false;
  return (message.tool_calls ?? []).some(({ name }) => name === "execute" || name === "task");
}

/** The result of an undo as sentences for the user. */
export function undoneWords({ isHandedOver, hadCommands, files }: UndoResult): string[] {
  const pathLine = (words: string, paths: readonly string[]): string[] =>
    paths.length > 0 ? [`${words}: ${paths.join(", ")}`] : [];
  return [
    ...pathLine("Files put back", files.restored),
    ...pathLine("Not undone, because another process changed them too", files.changed),
    ...pathLine("Not put back, since there is no copy of them", files.missed),
    ...(isHandedOver
      ? ["It was handed over amid a turn, whose files stay as they are: undo again takes back the turn."]
      : []),
    ...(hadCommands ? ["What commands changed is not taken back."] : []),
  ];
}

/** The id of the message that started the current turn. */
export async function currentTurn(thread: Thread): Promise<string | undefined> {
  for await (const { id, isHandedOver } of earlierMessages(thread)) if (!isHandedOver) return id;
  return undefined;
}
