import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { diffLines } from "diff";
import { isMutation } from "../middleware/files/mutations.ts";

/** What became of a file in a thread, from before it to now. */
export interface NetChange {
  path: string;
  /** Null where there was no file, or where that is not known. */
  before: string | null;
  /** Null where there is no file now. */
  after: string | null;
  /** Whether `before` is known. */
  isKnown: boolean;
}

/** What calls of file tools did, in the order in which they were made. */
interface FileCall {
  name: string;
  path: string;
  args: Record<string, unknown>;
  result: string;
}

/** The files that a thread holds itself, as they were given to it and as they are. */
export function changesOfFiles(before: Record<string, string>, after: Record<string, string>): NetChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return paths.map((path) => ({
    path,
    before: before[path] ?? null,
    after: after[path] ?? null,
    isKnown: true,
  }));
}

/** The paths on disk that a thread's own calls have changed. Sub-agents' calls and commands are not among them. */
export function changedPaths(messages: readonly BaseMessage[]): string[] {
  return [...new Set(fileCalls(messages).map(({ path }) => path))].toSorted();
}

/** What a file on disk was before a thread changed it, found by taking its changes back one by one. */
export function changeOnDisk(
  path: string,
  after: string | null,
  messages: readonly BaseMessage[],
): NetChange {
  const calls = fileCalls(messages).filter((call) => call.path === path);
  const before = isCreated(calls[0]) ? null : calls.toReversed().reduce(undone, after);
  return { path, before: before ?? null, after, isKnown: before !== undefined };
}

/** How many lines were added and taken away. */
export function lineCounts({ before, after }: NetChange): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const part of diffLines(before ?? "", after ?? "")) {
    if (part.added) added += part.count ?? 0;
    if (part.removed) removed += part.count ?? 0;
  }
  return { added, removed };
}

function fileCalls(messages: readonly BaseMessage[]): FileCall[] {
  const results = new Map(
    messages.flatMap((message) =>
      ToolMessage.isInstance(message) && message.status !== "error"
        ? [[message.tool_call_id, message.text] as const]
        : [],
    ),
  );
  return messages.flatMap((message) =>
    (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []).flatMap(({ id = "", name, args }) => {
      const result = results.get(id);
      const path: unknown = (args as Record<string, unknown>)["file_path"];
      return isMutation(name) && result !== undefined && typeof path === "string"
        ? [{ name, path, args, result }]
        : [];
    }),
  );
}

function isCreated(call: FileCall | undefined): boolean {
  return call?.name === "write_file" && call.result.startsWith("Created");
}

/** The text before a call; undefined where it cannot be known. */
function undone(text: string | null | undefined, call: FileCall): string | null | undefined {
  if (call.name === "write_file") return isCreated(call) ? null : undefined;
  const { old_string: old, new_string: fresh, replace_all: isAll } = call.args;
  if (call.name !== "edit_file" || typeof text !== "string") return undefined;
  if (typeof old !== "string" || typeof fresh !== "string" || fresh === "") return undefined;
  const parts = text.split(fresh);
  // Where the new text stands more than once, nobody knows which of them was put there.
  if (parts.length !== 2 && isAll !== true) return undefined;
  return parts.join(old);
}
