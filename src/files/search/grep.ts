import type { FileResult, GrepFile, GrepLine, GrepOutput, GrepQuery, GrepResult } from "../backend/index.ts";
import { cutLine, splitLines } from "../text/index.ts";
import type { Matcher } from "./pattern.ts";
import { named, type SearchPass } from "./search-pass.ts";

const DEFAULT_MAX_MATCHES = 200;
/** The most characters of a line in a result, and in its text for a model. */
const MAX_LINE = 10_000;
const MAX_LINE_SHOWN = 500;
/** More characters than the mark of a cut has. */
const MAX_MARK = 100;
const READ_AT_ONCE = 16;

interface GrepSource {
  /** In the order of the result. */
  paths: AsyncIterable<string> | Iterable<string>;
  read(path: string): Promise<FileResult<{ content: string }>>;
  matcher: Matcher;
  pass: SearchPass;
}

/** Searches files in order. Skips files that are not text. */
export async function grepFiles(source: GrepSource, query: GrepQuery): Promise<GrepResult> {
  const { pass, matcher } = source;
  const search = new Search(query, pass);
  const isDone = (): boolean => search.isFull || pass.stopped !== undefined;
  const tooLarge: string[] = [];
  for await (const batch of batches(source.paths)) {
    const contents = await Promise.all(batch.map((path) => source.read(path)));
    for (const [index, result] of contents.entries()) {
      const path = batch[index]!;
      if (pass.isDue) await pass.rest();
      if (result.ok) await search.file(path, result.content, matcher);
      else if (result.reason === "too-large") tooLarge.push(path);
      else if (!EXPECTED_REASONS.includes(result.reason)) pass.miss(path);
      if (isDone()) break;
    }
    if (isDone()) break;
    query.signal?.throwIfAborted();
  }
  const full = search.isFull ? [stoppedAt(limitOf(query), query)] : [];
  return {
    files: search.files,
    notes: [...named("Not searched, too large", tooLarge), ...full, ...pass.notes],
  };
}

/** Reasons for which a file is skipped without a note. */
const EXPECTED_REASONS: readonly unknown[] = ["missing", "not-text"];

/** Limits a result, such as one joined from several, to the number of matches that the query allows. */
export function capMatches({ files, notes }: GrepResult, query: GrepQuery): GrepResult {
  const limit = limitOf(query);
  const capped: GrepFile[] = [];
  let remaining = limit;
  for (const file of files) {
    const size = contentOutput(query) ? file.count : 1;
    if (size > remaining) {
      if (remaining > 0 && contentOutput(query)) capped.push(firstMatches(file, remaining));
      return { files: capped, notes: [...new Set([...notes, stoppedAt(limit, query)])] };
    }
    capped.push(file);
    remaining -= size;
  }
  return { files: capped, notes: [...new Set(notes)] };
}

/** Renders a result: paths, `path:count`, or each path followed by its lines (`12:` for a match, `13-` for context). */
export function renderGrep({ files, notes }: GrepResult, output: GrepOutput = "content"): string {
  const entries = files.map((file) => {
    if (output === "files") return file.path;
    if (output === "count") return `${file.path}:${file.count}`;
    return [file.path, ...renderLines(file.lines)].join("\n");
  });
  const body = entries.length === 0 ? "No matches." : entries.join(output === "content" ? "\n\n" : "\n");
  return [body, ...notes.map((note) => `[${note}]`)].join("\n");
}

/** The state of a search: its matches so far, up to the limit. */
class Search {
  readonly files: GrepFile[] = [];
  /** True if there are more matches than the limit. */
  isFull = false;
  readonly #query: GrepQuery;
  readonly #pass: SearchPass;
  #remaining: number;

  constructor(query: GrepQuery, pass: SearchPass) {
    this.#query = query;
    this.#pass = pass;
    this.#remaining = limitOf(query);
  }

  async file(path: string, content: string, matcher: Matcher): Promise<void> {
    if (!matcher.text(content)) return;
    const lines = splitLines(content);
    const matches: number[] = [];
    const onlyFirst = this.#query.output === "files";
    for (const [index, line] of lines.entries()) {
      if (this.#pass.isDue) await this.#pass.rest();
      if (this.#pass.stopped) break;
      if (!matcher.line(line)) continue;
      if (this.#remaining === 0) {
        this.isFull = true;
        break;
      }
      matches.push(index);
      if (contentOutput(this.#query)) this.#remaining -= 1;
      if (onlyFirst) break;
    }
    if (matches.length === 0) return;
    if (!contentOutput(this.#query)) this.#remaining -= 1;
    const matchLines = contentOutput(this.#query) ? withContext(lines, matches, this.#query) : [];
    this.files.push({ path, count: matches.length, lines: matchLines });
  }
}

async function* batches(paths: GrepSource["paths"]): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const path of paths) {
    batch.push(path);
    if (batch.length === READ_AT_ONCE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

function withContext(lines: readonly string[], matches: readonly number[], query: GrepQuery): GrepLine[] {
  const before = Math.max(0, Math.trunc(query.before ?? 0) || 0);
  const after = Math.max(0, Math.trunc(query.after ?? 0) || 0);
  const matching = new Set(matches);
  const contextLines: GrepLine[] = [];
  let next = 0;
  for (const match of matches) {
    const to = Math.min(lines.length - 1, match + after);
    for (let index = Math.max(next, match - before); index <= to; index += 1) {
      const text = cutLine(lines[index]!, MAX_LINE);
      contextLines.push({ line: index + 1, text, isMatch: matching.has(index) });
      next = index + 1;
    }
  }
  return contextLines;
}

function firstMatches(file: GrepFile, count: number): GrepFile {
  const cut = file.lines.filter((line) => line.isMatch)[count];
  const lines = file.lines.filter((line) => !cut || line.line < cut.line);
  return { ...file, count, lines };
}

function renderLines(lines: readonly GrepLine[]): string[] {
  return lines.flatMap(({ line, text, isMatch }, index) => {
    const gap = index > 0 && lines[index - 1]!.line !== line - 1;
    const rendered = `${line}${isMatch ? ":" : "-"}${shownLine(text)}`;
    // Without context, gaps are not marked.
    return gap && lines.some((each) => !each.isMatch) ? ["--", rendered] : [rendered];
  });
}

/** A line cut for a model. One that was cut before keeps its mark, which has the length of the whole line. */
function shownLine(text: string): string {
  const [mark] = (text.length > MAX_LINE && / \[cut: [^\]]*\]$/.exec(text.slice(-MAX_MARK))) || [];
  const cut = cutLine(text, MAX_LINE_SHOWN);
  return mark === undefined ? cut : `${cut.slice(0, cut.lastIndexOf(" [cut: "))}${mark}`;
}

function contentOutput(query: GrepQuery): boolean {
  return (query.output ?? "content") === "content";
}

function limitOf(query: GrepQuery): number {
  return Math.max(1, Math.trunc(query.maxMatches ?? DEFAULT_MAX_MATCHES) || 1);
}

function stoppedAt(limit: number, query: GrepQuery): string {
  const unit = `${contentOutput(query) ? "matching line" : "file"}${limit === 1 ? "" : "s"}`;
  return `Stopped at ${limit} ${unit}: there are more. Narrow the pattern, the path or the glob.`;
}
