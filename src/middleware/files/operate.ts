import type { z } from "zod";
import {
  numberLines,
  renderExecution,
  renderGrep,
  type FileBackend,
  type FileResult,
} from "../../files/index.ts";
import { parentOf } from "../../files/paths.ts";
import { located } from "./located.ts";
import type { FILE_ARGUMENTS, FileToolName } from "./schemas.ts";

type Arguments<Name extends FileToolName> = z.output<(typeof FILE_ARGUMENTS)[Name]>;

/** What a tool answers: text for the model, and whether it is an error. */
export interface Answer {
  ok: boolean;
  text: string;
}

/** Runs one file tool on a backend and puts the result in words. */
export async function operate<Name extends FileToolName>(
  backend: FileBackend,
  call: { name: Name; args: Arguments<Name> },
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const operation = OPERATIONS[call.name] as Operation<Name>;
  return operation(backend, await located(backend, call), signal);
}

type Operation<Name extends FileToolName> = (
  backend: FileBackend,
  args: Arguments<Name>,
  signal: AbortSignal | undefined,
) => Promise<Answer>;

const OPERATIONS: { [Name in FileToolName]: Operation<Name> } = {
  ls: async (backend, { path = "/", sizes = false }) =>
    said(await backend.list(path), ({ entries }) => {
      const names = entries.map((entry) =>
        entry.isDirectory ? `${entry.path}/` : sized(entry.path, sizes ? entry.size : undefined),
      );
      return cut(names.join("\n"), "Use glob to narrow it down.") || "(empty)";
    }),

  read_file: async (backend, { file_path, offset, limit }) => {
    const file = await backend.read(file_path);
    if (!file.ok) return said(file, () => "");
    return said(numberLines(file.content, { offset, limit }), ({ text }) =>
      cut(text, "Read on with offset and limit."),
    );
  },

  write_file: async (backend, { file_path, content }) =>
    said(
      await backend.write(file_path, content),
      ({ created }) => `${created ? "Created" : "Replaced"} ${file_path}.`,
    ),

  edit_file: async (backend, { file_path, old_string, new_string, replace_all }) =>
    said(
      await backend.edit(file_path, {
        oldString: old_string,
        newString: new_string,
        replaceAll: replace_all,
      }),
      ({ lines }) => `Edited ${file_path} at line${lines.length === 1 ? "" : "s"} ${lines.join(", ")}.`,
    ),

  delete_file: async (backend, { file_path }) =>
    said(await backend.delete(file_path), () => `Deleted ${file_path}.`),

  glob: async (backend, { pattern, path, sizes = false }, signal) => {
    const found = await backend.glob(pattern, { path, signal });
    const known = sizes && found.ok ? await sizesOf(backend, found.paths, signal) : undefined;
    return said(found, ({ paths }) => {
      if (!known) return paths.join("\n") || "No file matches.";
      const lines = paths.map((file) => sized(file, known.get(file)));
      return cut(lines.join("\n"), "Narrow the pattern.") || "No file matches.";
    });
  },

  grep: async (backend, args, signal) => {
    const { pattern, path, glob, regex, output = "content", context = 0 } = args;
    const result = await backend.grep({
      pattern,
      path,
      glob,
      regex,
      output,
      signal,
      ignoreCase: args.ignore_case,
      before: context,
      after: context,
      maxMatches: args.limit,
    });
    return said(result, (found) => renderGrep(found, output));
  },

  execute: async (backend, { command, timeout }, signal) => {
    if (!backend.execute) return { ok: false, text: "Commands cannot be run here." };
    const options = { signal, ...(timeout !== undefined && { timeoutMs: timeout * 1000 }) };
    return said(await backend.execute(command, options), renderExecution);
  },
};

function said<T extends object>(result: FileResult<T>, words: (value: T) => string): Answer {
  return result.ok ? { ok: true, text: words(result) } : { ok: false, text: result.error };
}

/** A file's line in a list. No path has a tab in it. */
function sized(path: string, size: number | undefined): string {
  return size === undefined ? path : `${path}\t${size}`;
}

/** The sizes of files, from the lists of the folders that they are in. */
async function sizesOf(
  backend: FileBackend,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const folder of new Set(paths.map(parentOf))) {
    signal?.throwIfAborted();
    const listed = await backend.list(folder);
    for (const { path, size } of listed.ok ? listed.entries : []) {
      if (size !== undefined) sizes.set(path, size);
    }
  }
  return sizes;
}

/** The most characters of a file or a list that a model is shown at once. */
const MOST = 100_000;

function cut(text: string, advice: string): string {
  if (text.length <= MOST) return text;
  const end = text.lastIndexOf("\n", MOST);
  return `${text.slice(0, end > 0 ? end : MOST).toWellFormed()}\n[Cut after ${MOST} of ${text.length} characters. ${advice}]`;
}
