import type { z } from "zod";
import type { FileBackend, FileResult } from "../../files/index.ts";
import { parentOf } from "../../files/paths/index.ts";
import { renderGrep } from "../../files/search/index.ts";
import { renderExecution } from "../../files/shell/index.ts";
import { mediaTypeOf, numberLines, type ShownLines } from "../../files/text/index.ts";
import { filled } from "../text/index.ts";
import { failureOf, type FailedCommand } from "../tools/index.ts";
import { editFile, plainPath, writeFile } from "./changes/change-file.ts";
import type { Sightings } from "./changes/sightings.ts";
import { textEdits } from "./changes/text-edits.ts";
import { HELD_TEXTS } from "./files.prompt.ts";
import { located } from "./located.ts";
import { look, type Media, type Shown } from "./media.ts";
import type { FILE_ARGUMENTS, FileToolName } from "./schemas.ts";

type Arguments<Name extends FileToolName> = z.output<(typeof FILE_ARGUMENTS)[Name]>;

/** A tool's answer: text for the model, and whether it is an error. */
export interface FileAnswer {
  ok: boolean;
  text: string;
  /** The failure of a command; its output is the text. */
  failure?: FailedCommand;
  /** A media file for the model. */
  shown?: Shown;
  /** Whether a write was held back, which the model can confirm. */
  isHeld?: boolean;
}

interface OperateOptions {
  signal: AbortSignal | undefined;
  /** The most characters of a list in one answer. */
  limit: number;
  /** The media that the model accepts. */
  media: readonly Media[];
  /** The files that the agent has seen; undefined to make every change without a check. */
  sightings: Sightings | undefined;
}

/** Runs a file tool on a backend, and returns the result as text. */
export async function operate<Name extends FileToolName>(
  backend: FileBackend,
  call: { name: Name; args: Arguments<Name> },
  { signal, limit = MOST, media = [], sightings }: Partial<OperateOptions> = {},
): Promise<FileAnswer> {
  const operation = OPERATIONS[call.name] as Operation<Name>;
  const args = await located(backend, call);
  return operation(backend, args, { signal, limit: Math.min(limit, MOST), media, sightings });
}

type Operation<Name extends FileToolName> = (
  backend: FileBackend,
  args: Arguments<Name>,
  options: OperateOptions,
) => Promise<FileAnswer>;

const OPERATIONS: { [Name in FileToolName]: Operation<Name> } = {
  ls: async (backend, { path = "/", sizes = false, ignored = false }, { limit }) =>
    answerOf(await backend.list(path, { sizes }), ({ entries }) => {
      const listed = entries.filter((entry) => ignored || !entry.isIgnored);
      const lines = listed.map((entry) =>
        entry.isDirectory ? `${entry.path}/` : withSize(entry.path, sizes ? entry.size : undefined),
      );
      // `.git` is not worth a note.
      const hidden = entries.filter(({ name, isIgnored }) => isIgnored && name !== ".git").length;
      const notes = !ignored && hidden > 0 ? [`[${hidden} more with ignored: true.]`] : [];
      return linesWithin(lines, { limit, notes, advice: "Use glob to narrow it down." }) || "(empty)";
    }),

  read_file: async (backend, { file_path, offset, limit, column }, { media, sightings }) => {
    const file = await backend.read(file_path);
    if (!file.ok) {
      const bytes = file.reason === "not-text" ? await backend.readBytes(file_path) : file;
      const type = bytes.ok ? mediaTypeOf(bytes.bytes) : undefined;
      if (!bytes.ok || !type) return answerOf(file, () => "");
      sightings?.note(plainPath(file_path), bytes.bytes);
      return { ok: true, ...look(file_path, { type, bytes: bytes.bytes, media }) };
    }
    const page = numberLines(file.content, { offset, limit, column });
    if (page.ok && sightings)
      noteRead(sightings, { path: plainPath(file_path), content: file.content, page });
    return answerOf(page, ({ text }) => cut(text));
  },

  write_file: async (backend, { file_path, content }, { sightings }) => {
    if (content === undefined) {
      return { ok: false, text: filled(HELD_TEXTS.nothingHeld, { path: file_path }) };
    }
    const result = await writeFile(backend, { path: file_path, content }, sightings);
    const isHeld = !result.ok && result.reason === "held";
    return {
      ...answerOf(result, ({ created }) => `${created ? "Created" : "Replaced"} ${file_path}.`),
      ...(isHeld && { isHeld }),
    };
  },

  edit_file: async (backend, { file_path, ...args }, { sightings }) => {
    const result = await editFile(backend, { path: file_path, edits: textEdits(args) }, sightings);
    return answerOf(result, ({ shown, news }) =>
      [shown === undefined ? `Edited ${file_path}.` : `Edited ${file_path}:\n${shown}`, news]
        .filter((part) => part !== undefined)
        .join("\n"),
    );
  },

  delete_file: async (backend, { file_path }) =>
    answerOf(await backend.delete(file_path), () => `Deleted ${file_path}.`),

  glob: async (backend, { pattern, path, sizes = false, ignored }, { signal, limit }) => {
    const result = await backend.glob(pattern, { path, signal, ignored });
    if (!result.ok) return answerOf(result, () => "");
    const paths = result.paths.slice(0, countWithin(result.paths, limit));
    const sizeOf = sizes ? await sizesOf(backend, paths, signal) : undefined;
    const lines = sizeOf ? paths.map((file) => withSize(file, sizeOf.get(file))) : paths;
    const notes = (result.notes ?? []).map((note) => `[${note}]`);
    const options = { limit, notes, total: result.paths.length, advice: "Narrow the pattern or the path." };
    const text = lines.length > 0 ? linesWithin(lines, options) : ["No file matches.", ...notes].join("\n");
    return { ok: true, text };
  },

  grep: async (backend, args, { signal, limit }) => {
    const { pattern, path, glob, regex, output = "content", context = 0 } = args;
    const result = await backend.grep({
      pattern,
      path,
      glob,
      regex,
      output,
      signal,
      ignored: args.ignored,
      ignoreCase: args.ignore_case,
      before: context,
      after: context,
      maxMatches: args.limit,
    });
    return answerOf(result, ({ files, notes }) =>
      linesWithin(renderGrep({ files, notes: [] }, output).split("\n"), {
        limit,
        notes: notes.map((note) => `[${note}]`),
        advice: "Narrow the pattern, the path or the glob.",
      }),
    );
  },

  execute: async (backend, { command, timeout }, { signal }) => {
    if (!backend.execute) return { ok: false, text: "Commands cannot be run here." };
    const options = { signal, ...(timeout !== undefined && { timeoutMs: timeout * 1000 }) };
    const execution = await backend.execute(command, options);
    const failure = execution.ok ? failureOf(execution) : undefined;
    return { ...answerOf(execution, renderExecution), ...(failure && { failure }) };
  },
};

function answerOf<T extends object>(result: FileResult<T>, textOf: (value: T) => string): FileAnswer {
  return result.ok ? { ok: true, text: textOf(result) } : { ok: false, text: result.error };
}

/** A file's line in a list. A tab separates the size, as no path contains one. */
function withSize(path: string, size: number | undefined): string {
  return size === undefined ? path : `${path}\t${size}`;
}

/** The sizes of files, from the lists of their folders. */
async function sizesOf(
  backend: FileBackend,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const folder of new Set(paths.map(parentOf))) {
    signal?.throwIfAborted();
    const list = await backend.list(folder, { sizes: true });
    for (const { path, size } of list.ok ? list.entries : []) {
      if (size !== undefined) sizes.set(path, size);
    }
  }
  return sizes;
}

/** The most characters of one answer, whatever the model asks for. */
const MOST = 100_000;
/** Characters reserved for the line about a cut. */
const NOTE = 120;

/** The lines that fit into a limit, the number of further lines if any, and notes. */
function linesWithin(
  lines: readonly string[],
  {
    limit,
    advice,
    total = lines.length,
    notes = [],
  }: { limit: number; advice: string; total?: number; notes?: readonly string[] },
): string {
  const room = limit - notes.join("\n").length - 1;
  const isWhole = total === lines.length && countWithin(lines, room) === total;
  if (isWhole) return [...lines, ...notes].join("\n");
  const shown = lines.slice(0, countWithin(lines, room - NOTE));
  const cutting = `[Cut after ${shown.length} of ${total} lines: ${total - shown.length} more. ${advice}]`;
  return [...shown, cutting, ...notes].join("\n");
}

/** The number of lines that fit into a number of characters. */
function countWithin(lines: readonly string[], limit: number): number {
  let length = 0;
  const end = lines.findIndex((line) => (length += line.length + 1) > limit + 1);
  return end < 0 ? lines.length : end;
}

function cut(text: string): string {
  if (text.length <= MOST) return text;
  const end = text.lastIndexOf("\n", MOST);
  return `${text.slice(0, end > 0 ? end : MOST).toWellFormed()}\n[Cut after ${MOST} of ${text.length} characters. Read on with offset and limit.]`;
}

/** Notes how many lines of a file have been read from its start. Reading page after page counts as the whole file. */
function noteRead(
  sightings: Sightings,
  { path, content, page }: { path: string; content: string; page: Pick<ShownLines, "from" | "to" | "of"> },
): void {
  const bytes = Buffer.from(content);
  const before = sightings.linesSeen(path, bytes);
  const lines = page.from <= before ? Math.max(before, page.to) : before;
  sightings.note(path, bytes, lines >= page.of ? {} : { lines });
}
