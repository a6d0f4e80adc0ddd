/** The kind of a failure, for code; a model reads `error`. */
export type FailureReason = "missing" | "too-large" | "not-text" | "denied" | "folder" | "held";

/** An operation that did not succeed and changed nothing. */
export interface Failure {
  ok: false;
  /** Sentences for the model. Paths are in double quotes, and no other quoted text starts with a slash. */
  error: string;
  reason?: FailureReason;
}

/** The result of a file operation. A caller's mistake is a failure, never an exception. */
export type FileResult<T extends object = object> = ({ ok: true } & T) | Failure;

/** One file or folder in a listing. */
export interface FileEntry {
  name: string;
  path: string;
  isDirectory: boolean;
  /** Characters or bytes, depending on the backend. May be absent in a listing without `sizes`. */
  size?: number;
  /** True for what a `.gitignore` excludes, and for `.git`. */
  isIgnored?: boolean;
}

/** A replacement of text within a file. */
export interface TextEdit {
  oldString: string;
  newString: string;
  /** Replace every occurrence; without it, `oldString` must occur exactly once. */
  replaceAll?: boolean;
}

/** Options of a listing. */
export interface ListOptions {
  /** Includes file sizes where the backend knows them without reading the files. Default false. */
  sizes?: boolean;
}

/** The scope of a search. */
export interface SearchScope {
  /** The folder (for `grep`, or file) to search. Default "/". */
  path?: string;
  /** Includes files that `.gitignore` excludes, and all others that searches skip. */
  ignored?: boolean;
  /** Filters files before matches are counted or truncated. */
  include?: (path: string) => boolean;
  /** An abort makes the search throw the signal's reason. */
  signal?: AbortSignal;
}

/** The output of `grep`: paths, matching lines, or a number of matching lines per file. */
export type GrepOutput = "files" | "content" | "count";

/** A search in the text of files, line by line. */
export interface GrepQuery extends SearchScope {
  /**
   * Text to find or, with `regex`, an expression in RE2 syntax (no lookaround, no backreferences), which is
   * tried on the first 20,000 characters of a line.
   */
  pattern: string;
  regex?: boolean;
  ignoreCase?: boolean;
  /** Searches only the files that match; without a slash it is matched with the file's name. */
  glob?: string;
  /** Lines of context before and after each match. */
  before?: number;
  after?: number;
  /** Default "content". */
  output?: GrepOutput;
  /** The most matching lines (in "content") or files (otherwise) to return. Default 200. */
  maxMatches?: number;
}

/** A line of a grep result: a match or its context. */
export interface GrepLine {
  /** Counted from 1. */
  line: number;
  text: string;
  isMatch: boolean;
}

/** The matches in one file. */
export interface GrepFile {
  path: string;
  /** The number of matching lines; 1 in "files" output. */
  count: number;
  /** Empty unless the output is "content". */
  lines: GrepLine[];
}

/** Matches by path, and notes on what was left out. */
export interface GrepResult {
  files: GrepFile[];
  notes: string[];
}

/** Options of a command. */
export interface ExecuteOptions {
  timeoutMs?: number;
  /** An abort ends the command's processes and then throws the signal's reason. */
  signal?: AbortSignal;
}

/** The result of a command. */
export interface Execution {
  /** Standard output and standard error, in the order in which they arrived. */
  output: string;
  /** Null when a signal ended it. */
  exitCode: number | null;
  timedOut: boolean;
  /** The time limit in milliseconds, if the command reached it. */
  limitMs?: number;
  /** True if the middle of the output was left out. */
  truncated: boolean;
  /** True if background processes of the command had to be ended. */
  leftProcesses?: boolean;
  /** New files that would make git run programs. They were moved aside. */
  takenBack?: string[];
}

/**
 * A place for files. Paths are absolute POSIX paths from the backend's own root; "a.md" means "/a.md".
 * Methods throw only for bugs and aborts. Folders are created with the files in them.
 */
export interface FileBackend {
  /** The entries of a folder, sorted by name. */
  list(path: string, options?: ListOptions): Promise<FileResult<{ entries: FileEntry[] }>>;
  /** The text of a file. A binary file fails with the reason "not-text". */
  read(path: string): Promise<FileResult<{ content: string }>>;
  /** The bytes of a file, text or not. */
  readBytes(path: string): Promise<FileResult<{ bytes: Uint8Array }>>;
  /** Creates the file or replaces all of it. */
  write(path: string, content: string): Promise<FileResult<{ created: boolean }>>;
  writeBytes(path: string, bytes: Uint8Array): Promise<FileResult<{ created: boolean }>>;
  /** Deletes a file, or a folder with all that is in it, but not the root. */
  delete(path: string): Promise<FileResult>;
  /** Replaces text, and never overwrites a concurrent change. `lines`: the line numbers where the new text begins. */
  edit(path: string, edit: TextEdit): Promise<FileResult<{ lines: number[] }>>;
  /**
   * The matching files, sorted, and notes on what was left out. A pattern with a leading slash starts at the root,
   * others at `path`.
   */
  glob(pattern: string, scope?: SearchScope): Promise<FileResult<{ paths: string[]; notes?: string[] }>>;
  grep(query: GrepQuery): Promise<FileResult<GrepResult>>;
  /** Present on backends that forward calls: the backend of a path, and the path in that backend. */
  route?(path: string): { backend: FileBackend; path: string };
  /** Present where files are on the host: translates a host path to one of this backend; returns others unchanged. */
  locate?(path: string): Promise<string>;
  /**
   * Whether the file has these bytes, and is unchanged since a time in milliseconds or equals the text in the index of
   * the project's git repository. False where that is uncertain. Absent where the backend cannot tell.
   */
  isUnchanged?(path: string, file: { bytes: Uint8Array; since: number | undefined }): Promise<boolean>;
  /** A few sentences about this place for the model's prompt. Optional. */
  place?(): string;
  /** Runs a command. Absent where the backend cannot. */
  execute?(command: string, options?: ExecuteOptions): Promise<FileResult<Execution>>;
}

export function fail(error: string, reason?: FailureReason): Failure {
  return { ok: false, error, ...(reason && { reason }) };
}

export function noSuchFile(path: string): Failure {
  return fail(`There is no file "${path}".`, "missing");
}

export function noSuchFolder(path: string): Failure {
  return fail(`There is no folder "${path}".`, "missing");
}

export function notAFile(path: string): Failure {
  return fail(`"${path}" is a folder, not a file.`, "folder");
}

export function notAFolder(path: string): Failure {
  return fail(`"${path}" is a file, not a folder.`);
}

export function fileInTheWay(path: string, file: string): Failure {
  return fail(`"${path}" cannot be written: "${file}" is a file, not a folder.`);
}

/** Renames every path in the text of a failure or note, for a backend that is mounted under another root. */
export function renamePaths(text: string, rename: (path: string) => string): string {
  return text.replaceAll(QUOTED_PATH, (_, path: string) => `"${rename(path)}"`);
}

/** The paths in the text of a failure or note. */
export function pathsIn(text: string): string[] {
  return [...text.matchAll(QUOTED_PATH)].map((match) => match[1]!);
}

const QUOTED_PATH = /"(\/[^"]*)"/g;
