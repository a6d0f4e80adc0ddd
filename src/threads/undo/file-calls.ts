import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver, StateSnapshot } from "@langchain/langgraph";
import { numberedLines } from "../../files/text/index.ts";
import { seenIn, joined } from "../../middleware/files/index.ts";
import { isMutation, type Mutation } from "../../middleware/tools/index.ts";

export interface FileCall {
  name: Mutation;
  args: Record<string, unknown>;
  result: string;
  /** The text of the file before the call, if the conversation has it. */
  before?: string;
}

/** The successful calls of a thread's file tools, including those of sub-agents, in their order. */
export async function fileCallsOf(saver: BaseCheckpointSaver, state: StateSnapshot): Promise<FileCall[]> {
  const { messages = [] } = (state.values ?? {}) as { messages?: BaseMessage[] };
  // Checkpoints take long to read, and are only needed for sub-agents' calls.
  return fileCallsIn(hasHelpers(messages) ? [...(await savedBefore(saver, state)), messages] : [messages]);
}

/**
 * The calls in saved conversations, oldest first, by the time of the model's answer. That order is right also for two
 * agents that change the same file: a change needs a fresh read, so the second call is made after the first has ended.
 */
export function fileCallsIn(saved: Iterable<readonly BaseMessage[]>): FileCall[] {
  // By message, as a fork has those of its caller, too.
  const turns = new Map<unknown, TurnCalls>();
  for (const messages of saved) {
    const hashes = new Map<string, string>();
    let results: TurnCalls["results"] | undefined;
    for (const message of messages) {
      if (AIMessage.isInstance(message)) {
        const key = message.id ?? message;
        const turn = turns.get(key) ?? { message, results: new Map() };
        turns.set(key, turn);
        ({ results } = turn);
      } else if (ToolMessage.isInstance(message)) {
        const { tool_call_id: call } = message;
        const file = seenIn(message);
        // An earlier read may be missing in a later version of the conversation.
        const replaced = (file && hashes.get(file.path)) ?? results?.get(call)?.replaced;
        results?.set(call, { message, hash: file?.hash, replaced });
        if (file) hashes.set(file.path, file.hash);
      }
    }
  }
  const calls = [...turns.values()].flatMap(callsOf);
  const texts = textsByHash(turns.values(), new Set(calls.map(({ replaced }) => replaced)));
  return calls.map(({ call, replaced = "" }) => {
    const before = texts.get(replaced);
    return before === undefined ? call : { ...call, before };
  });
}

/** A model's message with the results of its calls. */
interface TurnCalls {
  message: AIMessage;
  /** Results by call id. */
  results: Map<string, Result>;
}

interface Result {
  message: ToolMessage;
  /** The hash of the file that the call has read or written. */
  hash: string | undefined;
  /** The hash of the file when it was last read: the tools change no file that differs from it. */
  replaced: string | undefined;
}

function callsOf({ message, results }: TurnCalls): { call: FileCall; replaced: string | undefined }[] {
  return (message.tool_calls ?? []).flatMap(({ id = "", name, args }) => {
    const result = results.get(id);
    if (!isMutation(name) || !result || result.message.status === "error") return [];
    return [{ call: { name, args, result: result.message.text }, replaced: result.replaced }];
  });
}

/** The texts of hashes, put together from the pages that were read. */
function textsByHash(
  turns: Iterable<TurnCalls>,
  hashes: ReadonlySet<string | undefined>,
): Map<string, string> {
  const pages = new Map<string, Map<number, string>>();
  for (const { results } of turns) {
    for (const { message, hash } of results.values()) {
      if (message.name !== "read_file" || hash === undefined || !hashes.has(hash)) continue;
      pages.set(hash, new Map([...(pages.get(hash) ?? []), ...numberedLines(message.text)]));
    }
  }
  return new Map(
    [...pages].flatMap(([hash, lines]) => {
      const text = joined(lines, hash);
      return text === undefined ? [] : [[hash, text]];
    }),
  );
}

function hasHelpers(messages: readonly BaseMessage[]): boolean {
  return messages.some(
    (message) => AIMessage.isInstance(message) && message.tool_calls?.some(({ name }) => name === "task"),
  );
}

/**
 * The conversations that led to a state, oldest first: those of sub-agents at each of their checkpoints, and the thread's
 * own at checkpoints that started a sub-agent. The others are slow to read, and add nothing.
 */
async function savedBefore(saver: BaseCheckpointSaver, { config }: StateSnapshot): Promise<BaseMessage[][]> {
  const { thread_id, checkpoint_id: head } = config.configurable ?? {};
  const parents = new Map<unknown, unknown>();
  const saved: { id: string; root: string; values: { messages?: BaseMessage[] } }[] = [];
  for await (const { checkpoint, metadata, ...at } of saver.list({ configurable: { thread_id } })) {
    const { id, channel_values: values } = checkpoint;
    // A sub-agent's checkpoint names the thread's checkpoint that started it.
    const root = metadata?.parents?.[""] ?? id;
    if (root === id) parents.set(id, at.parentConfig?.configurable?.["checkpoint_id"]);
    saved.push({ id, root, values });
  }
  // After an undo there are checkpoints that did not lead here.
  const line = new Set<unknown>();
  for (let id: unknown = head; id !== undefined && !line.has(id); id = parents.get(id)) line.add(id);
  const starts = new Set(saved.flatMap(({ id, root }) => (root === id ? [] : [root])));
  return (
    saved
      .filter(({ id, root }) => line.has(root) && (root !== id || starts.has(id)))
      // Ids start with the time.
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ values }) => values.messages ?? [])
  );
}
