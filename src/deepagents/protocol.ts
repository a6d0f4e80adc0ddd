import type { Failure, FileBackend, FileChange, FileEntry } from "../files/index.ts";
import { decodeText, mediaTypeOf } from "../files/text/index.ts";
import type { BackendContext } from "../middleware/files/index.ts";

/** A value, or a promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** A file in the graph state of a DeepAgents program. */
export interface FileData {
  content: string | string[] | Uint8Array;
  mimeType?: string;
  created_at?: string;
  modified_at?: string;
}

/** An entry of a listing. The path of a folder ends with a slash. */
export interface FileInfo {
  path: string;
  is_dir?: boolean;
  size?: number;
  modified_at?: string;
}

type ProtocolAnswer<T> = { error?: string } & Partial<T>;

/** The entries of a folder. */
export type LsResult = ProtocolAnswer<{ files: FileInfo[] }>;
/** The files that a pattern matches. */
export type GlobResult = LsResult;
/** A text, or the bytes of a binary file. */
export type ReadResult = ProtocolAnswer<{
  content: string | Uint8Array;
  mimeType: string;
  totalLines: number;
}>;
/** A file in its stored form. */
export type ReadRawResult = ProtocolAnswer<{ data: FileData }>;
/**
 * The outcome of a write. `filesUpdate`: an update of `files` in the graph state, where null is a deleted file; null if
 * the files are elsewhere.
 */
export type WriteResult = ProtocolAnswer<{
  path: string;
  filesUpdate: Record<string, FileData | null> | null;
}>;
/** The outcome of a deletion. */
export type DeleteResult = WriteResult;
/** The outcome of an edit, with the number of replacements. */
export type EditResult = WriteResult & { occurrences?: number };
/** A matching line. */
export type GrepMatch = { path: string; line: number; text: string };
/** The matching lines. */
export type GrepResult = ProtocolAnswer<{ matches: GrepMatch[]; truncated: boolean }>;
/** The outcome of a command. */
export type ExecuteResponse = { output: string; exitCode: number | null; truncated: boolean };
/** Why a file was not transferred. */
export type FileOperationError = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path";
/** The outcome of one upload. */
export type FileUploadResponse = { path: string; error: FileOperationError | null };
/** One downloaded file. */
export type FileDownloadResponse = FileUploadResponse & { content: Uint8Array | null };

/** A file backend of DeepAgents' protocol. */
export interface BackendProtocol {
  ls(path: string): MaybePromise<LsResult>;
  read(path: string, offset?: number, limit?: number): MaybePromise<ReadResult>;
  readRaw?(path: string): MaybePromise<ReadRawResult>;
  write(path: string, content: string): MaybePromise<WriteResult>;
  edit(path: string, oldString: string, newString: string, replaceAll?: boolean): MaybePromise<EditResult>;
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): MaybePromise<GrepResult>;
  glob(pattern: string, path?: string): MaybePromise<GlobResult>;
  delete?(path: string): MaybePromise<DeleteResult>;
  uploadFiles?(files: [string, Uint8Array][]): MaybePromise<FileUploadResponse[]>;
  downloadFiles?(paths: string[]): MaybePromise<FileDownloadResponse[]>;
  execute?(command: string): MaybePromise<ExecuteResponse>;
  readonly id?: string;
}

/** A backend that runs commands. */
export interface SandboxProtocol extends BackendProtocol {
  execute(command: string): MaybePromise<ExecuteResponse>;
  readonly id: string;
}

/** The method that returns our `FileBackend` of a backend of this package. */
export const FILES: unique symbol = Symbol("files");

/** DeepAgents' protocol on one of our backends. */
export abstract class ProtocolBackend implements BackendProtocol {
  /** Our backend. Without a context, for a program that calls the protocol's methods itself. */
  abstract [FILES](context?: BackendContext): FileBackend;

  async ls(path: string): Promise<LsResult> {
    const [files, at] = await this.#at(path);
    const listing = await files.list(at, { sizes: true });
    if (listing.ok)
      return { files: listing.entries.map((entry) => infoOf(entry, under(path, at, entry.path))) };
    return listing.reason === "missing" ? { files: [] } : errorOf(listing, path);
  }

  async read(path: string, offset = 0, limit = 500): Promise<ReadResult> {
    const { error, data } = await this.readRaw(path);
    if (!data) return { error: error! };
    const { content, mimeType = "text/plain" } = data;
    if (typeof content !== "string") return { content: content as Uint8Array, mimeType };
    const lines = content.split("\n");
    return { content: lines.slice(offset, offset + limit).join("\n"), mimeType, totalLines: lines.length };
  }

  async readRaw(path: string): Promise<ReadRawResult> {
    const [files, at] = await this.#at(path);
    const file = await files.readBytes(at);
    return file.ok ? { data: dataOf(file.bytes, path) } : errorOf(file, path);
  }

  async write(path: string, content: string): Promise<WriteResult> {
    const [files, at] = await this.#at(path);
    const bytes = bytesOf(path, content);
    const result = await (bytes ? files.writeBytes(at, bytes) : files.write(at, content));
    return result.ok ? { path, ...updateOf(files) } : errorOf(result, path);
  }

  async edit(path: string, oldString: string, newString: string, replaceAll = false): Promise<EditResult> {
    const [files, at] = await this.#at(path);
    const file = await files.read(at);
    if (!file.ok) return errorOf(file, path);
    // The protocol fills an empty file so.
    if (oldString === "" && file.content === "")
      return { ...(await this.write(path, newString)), occurrences: 1 };
    const occurrences = oldString === "" ? 0 : file.content.split(oldString).length - 1;
    if (occurrences === 0) return { error: `The string was not found in '${path}'.` };
    if (occurrences > 1 && !replaceAll) {
      return { error: `The string is in '${path}' multiple times (${occurrences}); use replaceAll.` };
    }
    if (oldString === newString) return { path, occurrences, filesUpdate: null };
    const result = await files.edit(at, { oldString, newString, replaceAll });
    return result.ok ? { path, occurrences, ...updateOf(files) } : errorOf(result, path);
  }

  async delete(path: string): Promise<WriteResult> {
    const [files, at] = await this.#at(path);
    const result = await files.delete(at);
    return result.ok ? { path, ...updateOf(files) } : errorOf(result, path);
  }

  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<GrepResult> {
    const [files, at] = await this.#at(path ?? "/");
    const limit = maxCount ?? 10_000;
    const query = { pattern, path: at, maxMatches: limit + 1, ignored: true, glob: glob || undefined };
    const result = await files.grep(query);
    if (!result.ok) return result.reason === "missing" ? { matches: [] } : errorOf(result, path ?? "/");
    const all = result.files.flatMap((file) =>
      file.lines
        .filter(({ isMatch }) => isMatch)
        .map(({ line, text }) => ({ path: under(path ?? "/", at, file.path), line, text })),
    );
    const truncated = all.length > limit || result.notes.length > 0;
    return { matches: all.slice(0, limit), truncated: truncated || undefined };
  }

  async glob(pattern: string, path = "/"): Promise<GlobResult> {
    const [files, at] = await this.#at(path);
    const result = await files.glob(pattern, { path: at, ignored: true });
    if (!result.ok) return result.reason === "missing" ? { files: [] } : errorOf(result, path);
    return { files: result.paths.map((file) => ({ path: under(path, at, file), is_dir: false })) };
  }

  async uploadFiles(uploads: [string, Uint8Array][]): Promise<FileUploadResponse[]> {
    const answers: FileUploadResponse[] = [];
    for (const [path, content] of uploads) {
      const [files, at] = await this.#at(path);
      const result = await files.writeBytes(at, content);
      answers.push({ path, error: result.ok ? null : codeOf(result, "invalid_path") });
    }
    return answers;
  }

  async downloadFiles(paths: string[]): Promise<FileDownloadResponse[]> {
    const answers: FileDownloadResponse[] = [];
    for (const path of paths) {
      const [files, at] = await this.#at(path);
      const file = await files.readBytes(at);
      answers.push(
        file.ok
          ? { path, content: file.bytes, error: null }
          : { path, content: null, error: codeOf(file, "file_not_found") },
      );
    }
    return answers;
  }

  /** The backend, and a path in it, which may be given as a host path. */
  async #at(path: string): Promise<[FileBackend, string]> {
    const files = this[FILES]();
    return [files, (await files.locate?.(path)) ?? path];
  }
}

/** Replaces the prefix `at` of a path by `alias`, the caller's name for it. */
export function under(alias: string, at: string, path: string): string {
  const [outer, inner] = [withoutSlashes(alias), withoutSlashes(at)];
  return path === inner || path.startsWith(`${inner}/`) ? outer + path.slice(inner.length) : path;
}

/** A path without slashes at its end. */
export function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

/** A file in the form of DeepAgents' state and results. */
export function dataOf(bytes: Uint8Array, path: string): FileData {
  const text = decodeText(bytes, path);
  if (text.ok && !BINARY.test(path)) return { content: text.content, mimeType: "text/plain" };
  return { content: new Uint8Array(bytes), mimeType: mediaTypeOf(bytes) ?? "application/octet-stream" };
}

/** Names of files that are no text. */
const BINARY =
  /\.(?:png|jpe?g|gif|webp|heic|heif|pdf|pptx?|mp3|wav|aiff|aac|ogg|flac|mp4|mpeg|mpg|mov|avi|flv|webm|wmv|3gpp)$/i;

/** The bytes of a binary file, which the protocol writes in base64; undefined for a text. */
export function bytesOf(path: string, content: string): Uint8Array | undefined {
  const isEncoded = BINARY.test(path) && content.length % 4 === 0 && /^[\w+/-]+={0,2}$/.test(content);
  return isEncoded ? Buffer.from(content, "base64") : undefined;
}

function infoOf({ isDirectory, size }: FileEntry, path: string): FileInfo {
  return { path: isDirectory ? `${path}/` : path, is_dir: isDirectory, size };
}

/** The collected changes of a backend in the graph state; null for others. */
function updateOf(files: FileBackend): Pick<WriteResult, "filesUpdate"> {
  if (!("changes" in files)) return { filesUpdate: null };
  const changes = (files as { changes: () => Record<string, FileChange> }).changes();
  const update = Object.entries(changes).map(
    ([path, { content }]) => [path, content === null ? null : { content }] as const,
  );
  return { filesUpdate: Object.fromEntries(update) };
}

function errorOf(failure: Failure, path: string): { error: string } {
  return { error: failure.reason === "missing" ? `File '${path}' not found.` : failure.error };
}

function codeOf({ reason }: Failure, otherwise: FileOperationError): FileOperationError {
  if (reason === "folder") return "is_directory";
  return reason === "denied" ? "permission_denied" : otherwise;
}
