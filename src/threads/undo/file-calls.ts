import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver, StateSnapshot } from "@langchain/langgraph";
import { numberedLines } from "../../files/text/index.ts";
import { seenIn, joined } from "../../middleware/files/index.ts";
import { isMutation, type Mutation } from "../../middleware/tools/index.ts";

/** A call that changed a file. */
export interface FileCall {
  name: Mutation;
  args: Record<string, unknown>;
  result: string;
  /** The text of the file before it, where the conversation has it. */
  before?: string;
}

/**
 * The calls of a thread's file tools that succeeded, those of its sub-agents included, in the order in which they were
 * made.
 */
export async function fileCallsOf(saver: BaseCheckpointSaver, state: StateSnapshot): Promise<FileCall[]> {
  const { messages = [] } = (state.values ?? {}) as { messages?: BaseMessage[] };
  // What is saved of a thread takes long to read, and only sub-agents' calls are not in the conversation.
  return fileCallsIn(hasHelpers(messages) ? [...(await savedBefore(saver, state)), messages] : [messages]);
}

/**
 * The calls in conversations as they were saved, oldest first: by the moment at which a model asked for them. Whoever
 * changes a file has read it as it is, so of two agents that change the same one the second asks when the first is done.
 */
export function fileCallsIn(saved: Iterable<readonly BaseMessage[]>): FileCall[] {
  // By message: a fork has those of its caller, too.
  const turns = new Map<unknown, Turn>();
  for (const messages of saved) {
    const seen = new Map<string, string>();
    let results: Turn["results"] | undefined;
    for (const message of messages) {
      if (AIMessage.isInstance(message)) {
        const key = message.id ?? message;
        const turn = turns.get(key) ?? { message, results: new Map() };
        turns.set(key, turn);
        ({ results } = turn);
      } else if (ToolMessage.isInstance(message)) {
        const { tool_call_id: call } = message;
        const shown = seenIn(message);
        // What was seen before may have left the conversation since.
        const replaced = (shown && seen.get(shown.path)) ?? results?.get(call)?.replaced;
        results?.set(call, { message, hash: shown?.hash, replaced });
        if (shown) seen.set(shown.path, shown.hash);
      }
    }
  }
  const made = [...turns.values()].flatMap(callsOf);
  const texts = seenTexts(turns.values(), new Set(made.map(({ replaced }) => replaced)));
  return made.map(({ call, replaced = "" }) => {
    const before = texts.get(replaced);
    return before === undefined ? call : { ...call, before };
  });
}

/** A message of a model with what came of its calls. */
interface Turn {
  message: AIMessage;
  /** Results by call id. */
  results: Map<string, Result>;
}

interface Result {
  message: ToolMessage;
  /** The hash of the file that the call has shown or left. */
  hash: string | undefined;
  /** The hash of the file as it was seen before: a different file is not changed. */
  replaced: string | undefined;
}

/** The calls of a turn that changed a file. */
function callsOf({ message, results }: Turn): { call: FileCall; replaced: string | undefined }[] {
  return (message.tool_calls ?? []).flatMap(({ id = "", name, args }) => {
    const result = results.get(id);
    if (!isMutation(name) || !result || result.message.status === "error") return [];
    return [{ call: { name, args, result: result.message.text }, replaced: result.replaced }];
  });
}

/** Texts of which these are the hashes, put together from what was read. */
function seenTexts(turns: Iterable<Turn>, wanted: ReadonlySet<string | undefined>): Map<string, string> {
  const pages = new Map<string, Map<number, string>>();
  for (const { results } of turns) {
    for (const { message, hash } of results.values()) {
      if (message.name !== "read_file" || hash === undefined || !wanted.has(hash)) continue;
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
 * own where a sub-agent was started from it. To look at it everywhere else takes long, and tells nothing more.
 */
async function savedBefore(saver: BaseCheckpointSaver, { config }: StateSnapshot): Promise<BaseMessage[][]> {
  const { thread_id, checkpoint_id: head } = config.configurable ?? {};
  const parents = new Map<unknown, unknown>();
  const saved: { id: string; root: string; values: { messages?: BaseMessage[] } }[] = [];
  for await (const { checkpoint, metadata, ...at } of saver.list({ configurable: { thread_id } })) {
    const { id, channel_values: values } = checkpoint;
    // A sub-agent's checkpoint has the one of the thread that it was started from.
    const root = metadata?.parents?.[""] ?? id;
    if (root === id) parents.set(id, at.parentConfig?.configurable?.["checkpoint_id"]);
    saved.push({ id, root, values });
  }
  // A thread that was taken back has others that did not lead here.
  const line = new Set<unknown>();
  for (let id: unknown = head; id !== undefined && !line.has(id); id = parents.get(id)) line.add(id);
  const starts = new Set(saved.flatMap(({ id, root }) => (root === id ? [] : [root])));
  return (
    saved
      .filter(({ id, root }) => line.has(root) && (root !== id || starts.has(id)))
      // The ids begin with the time.
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ values }) => values.messages ?? [])
  );
}
