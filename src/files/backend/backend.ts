/** Why an operation failed, for code; a model reads `error`. */
export type FailureReason = "missing" | "too-large" | "not-text" | "denied" | "folder" | "held";

/** An operation that did not succeed and changed nothing. */
export interface Failure {
  ok: false;
  /** Sentences a model can act on. Paths stand in double quotes, and nothing else in quotes starts with a slash. */
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
  /** In characters or bytes, whichever the backend knows; a listing without `sizes` may leave it out. */
  size?: number;
  /** True where a `.gitignore` leaves it out, and for `.git`. */
  isIgnored?: boolean;
}

/** A replacement of text within a file. */
export interface TextEdit {
  oldString: string;
  newString: string;
  /** Replace every occurrence; without it, `oldString` must occur exactly once. */
  replaceAll?: boolean | undefined;
}

/** Options of a listing. */
export interface ListOptions {
  /** Gives the files' sizes, where the backend knows them without reading the files. Default false. */
  sizes?: boolean | undefined;
}

/** Where a search looks. */
export interface SearchScope {
  /** The folder (for `grep`, or file) to search. Default "/". */
  path?: string | undefined;
  /** Finds what `.gitignore` files leave out, too, and everything else that searches pass over. */
  ignored?: boolean | undefined;
  /** Leaves out the files for which it is false, before anything is counted or cut. */
  include?: ((path: string) => boolean) | undefined;
  /** An abort makes the search throw the signal's reason. */
  signal?: AbortSignal | undefined;
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
  regex?: boolean | undefined;
  ignoreCase?: boolean | undefined;
  /** Searches only the files that match; without a slash it is matched with the file's name. */
  glob?: string | undefined;
  /** Lines of context in front of and behind each match. */
  before?: number | undefined;
  after?: number | undefined;
  /** Default "content". */
  output?: GrepOutput | undefined;
  /** The most matching lines (in "content") or files (otherwise) to return. Default 200. */
  maxMatches?: number | undefined;
}

/** A line of a grep result: one that matches, or its context. */
export interface GrepLine {
  /** Counted from 1. */
  line: number;
  text: string;
  isMatch: boolean;
}

/** The matches in one file. */
export interface GrepFile {
  path: string;
  /** Matching lines that were counted; in "files" output, 1. */
  count: number;
  /** Empty unless the output is "content". */
  lines: GrepLine[];
}

/** Matches of a search by path, and notes on what was left out. */
export interface GrepResult {
  files: GrepFile[];
  notes: string[];
}

/** Options of a command. */
export interface ExecuteOptions {
  timeoutMs?: number | undefined;
  /** An abort ends the command's processes and then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The end of a command. */
export interface Execution {
  /** Standard output and standard error, in the order in which they arrived. */
  output: string;
  /** Null when a signal ended it. */
  exitCode: number | null;
  timedOut: boolean;
  /** The middle of the output was left out. */
  truncated: boolean;
  /** Processes that it had left in the background were ended. */
  leftProcesses?: boolean;
  /** Files that it had made for git to run programs by, which were moved aside. */
  takenBack?: string[];
}

/**
 * A place for files. Paths are absolute POSIX paths from the backend's own root; "a.md" means "/a.md".
 * Methods throw only for bugs and aborts. Folders come into being with the files in them.
 */
export interface FileBackend {
  /** The entries of a folder, sorted by name. */
  list(path: string, options?: ListOptions): Promise<FileResult<{ entries: FileEntry[] }>>;
  /** The text of a file; one that is none fails with the reason "not-text". */
  read(path: string): Promise<FileResult<{ content: string }>>;
  /** A file as it is, text or not. */
  readBytes(path: string): Promise<FileResult<{ bytes: Uint8Array }>>;
  /** Creates the file or replaces all of it. */
  write(path: string, content: string): Promise<FileResult<{ created: boolean }>>;
  writeBytes(path: string, bytes: Uint8Array): Promise<FileResult<{ created: boolean }>>;
  /** Deletes a file, or a folder with all that is in it, but not the root. */
  delete(path: string): Promise<FileResult>;
  /** Replaces text, never on top of a change it has not seen. `lines` are where the new text begins. */
  edit(path: string, edit: TextEdit): Promise<FileResult<{ lines: number[] }>>;
  /**
   * The files that match, sorted, and what was left out, in sentences. A pattern with a leading slash counts from the
   * root, others from `path`.
   */
  glob(pattern: string, scope?: SearchScope): Promise<FileResult<{ paths: string[]; notes?: string[] }>>;
  grep(query: GrepQuery): Promise<FileResult<GrepResult>>;
  /** Present where a backend only passes calls on: the backend that a path belongs to, and its path there. */
  route?(path: string): { backend: FileBackend; path: string };
  /** Present where files have an address on the host too: the path here of one that is given so, any other as it is. */
  locate?(path: string): Promise<string>;
  /**
   * Present where it can be told: whether a file with these bytes is as it was at a moment, in milliseconds, or as in the
   * last commit of its repository. False where that is not certain.
   */
  isUnchanged?(path: string, file: { bytes: Uint8Array; since: number | undefined }): Promise<boolean>;
  /** Present where the model should know where it is: a few sentences for its prompt. */
  place?(): string;
  /** Present where commands can be run. */
  execute?(command: string, options?: ExecuteOptions): Promise<FileResult<Execution>>;
}
