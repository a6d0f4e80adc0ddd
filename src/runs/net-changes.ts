import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { diffLines } from "diff";
import { pathMeant } from "../files/disk/from-host.ts";
import { diskBackend } from "../files/index.ts";
import { inOrder } from "../files/paths.ts";
import { isMutation } from "../middleware/files/mutations.ts";
import { resultsOf } from "./open-calls.ts";

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

/**
 * The files in a directory that a thread's own calls have changed: as they are, and as they were before, found by taking
 * the changes back one by one. Sub-agents' calls and commands are not among them.
 */
export async function changesOnDisk(messages: readonly BaseMessage[], dir: string): Promise<NetChange[]> {
  const calls = fileCalls(messages, dir);
  const paths = [...new Set(calls.map(({ path }) => path))].toSorted(inOrder);
  const disk = diskBackend(dir);
  return Promise.all(
    paths.map(async (path) => {
      const read = await disk.read(path);
      return changeBy(
        calls.filter((call) => call.path === path),
        read.ok ? read.content : null,
      );
    }),
  );
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

function fileCalls(messages: readonly BaseMessage[], dir: string): FileCall[] {
  return messages.flatMap((message, turn) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    const results = calls.length > 0 ? resultsOf(messages, turn) : undefined;
    return calls.flatMap(({ id = "", name, args }) => {
      const result = results?.get(id);
      const given: unknown = (args as Record<string, unknown>)["file_path"];
      const path = typeof given === "string" ? pathMeant(given, dir) : undefined;
      return isMutation(name) && path !== undefined && result && result.status !== "error"
        ? [{ name, path, args, result: result.text }]
        : [];
    });
  });
}

function changeBy(calls: readonly FileCall[], after: string | null): NetChange {
  const before = isCreated(calls[0]) ? null : calls.toReversed().reduce(undone, after);
  return { path: calls[0]!.path, before: before ?? null, after, isKnown: before !== undefined };
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
