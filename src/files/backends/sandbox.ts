import { unlessAborted } from "../../errors.ts";
import {
  type Execution,
  type Failure,
  type FileBackend,
  type FileEntry,
  type FileResult,
  fail,
  fileInTheWay,
  notAFolder,
  notAFile,
  noSuchFile,
  noSuchFolder,
} from "../backend/index.ts";
import { foldersAbove, inOrder, nameOf, parentOf, parsePath, pathIn } from "../paths/index.ts";
import type { FileOperations } from "../search/index.ts";
import { decodeText } from "../text/index.ts";
import { createBackend } from "./create.ts";
import { exclusive } from "./exclusive.ts";

type MaybePromise<T> = T | Promise<T>;

/**
 * The required methods of a sandbox of DeepAgents' protocol. The sandboxes of `@langchain/daytona`, `@langchain/modal`,
 * `@langchain/deno`, E2B and others that extend its `BaseSandbox` have them. The sandbox needs a POSIX shell.
 */
export interface RemoteSandbox {
  readonly id: string;
  execute(command: string): MaybePromise<{ output: string; exitCode: number | null; truncated?: boolean }>;
  uploadFiles(
    files: [path: string, content: Uint8Array][],
  ): MaybePromise<{ path: string; error: string | null }[]>;
  downloadFiles(
    paths: string[],
  ): MaybePromise<{ path: string; content: Uint8Array | null; error: string | null }[]>;
}

/** Options of a remote sandbox. */
export interface RemoteSandboxOptions {
  /**
   * The folder of the sandbox that is "/" for the agent, and the working folder of commands. Default "/workspace". With
   * "/", commands start in the sandbox's own working folder.
   */
  root?: string;
  /** Default two minutes. A call may set another limit. */
  timeoutMs?: number;
  /** The largest file to read or write. Default 10 MB. */
  maxBytes?: number;
}

/**
 * Files and commands in a third-party sandbox. The protocol has no compare-and-swap: edits run one by one in this
 * process, but a concurrent command can interfere.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { sandboxBackend, type RemoteSandbox } from "holdfast/files";
 *
 * // For a sandbox of Daytona, Modal, Deno, E2B and others.
 * function agentIn(sandbox: RemoteSandbox) {
 *   return createDeepAgent({ model: "openai:gpt-5.1", backend: sandboxBackend(sandbox) });
 * }
 * ```
 */
export function sandboxBackend(
  sandbox: RemoteSandbox,
  { root = "/workspace", timeoutMs = 120_000, maxBytes = 10_000_000 }: RemoteSandboxOptions = {},
): FileBackend {
  const files = new RemoteFiles(sandbox, withoutEnd(root), maxBytes);
  return {
    ...createBackend(files),
    async execute(command, call = {}) {
      if (command.trim() === "") return fail("The command is empty.");
      if (command.includes("\0")) return fail("The command has a NUL character in it.");
      call.signal?.throwIfAborted();
      // After an abort the command keeps running until its time limit.
      return unlessAborted(files.run(command, call.timeoutMs ?? timeoutMs), call.signal);
    },
  };
}

/** A path without slashes at its end. */
function withoutEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

class RemoteFiles implements FileOperations {
  readonly #sandbox: RemoteSandbox;
  readonly #root: string;
  readonly maxBytes: number;

  constructor(sandbox: RemoteSandbox, root: string, maxBytes: number) {
    this.#sandbox = sandbox;
    this.#root = root;
    this.maxBytes = maxBytes;
  }

  /** Applies the time limit inside the sandbox: the protocol cannot end a command. */
  async run(command: string, timeoutMs: number): Promise<FileResult<Execution>> {
    const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
    const limited = `if command -v timeout >/dev/null; then timeout -k 2 ${seconds} /bin/sh -c ${quoted(command)}; else /bin/sh -c ${quoted(command)}; fi`;
    const root = quoted(this.#root);
    const {
      output,
      exitCode,
      truncated = false,
    } = await this.#sandbox.execute(
      this.#root === "" ? limited : `mkdir -p ${root}; cd ${root} || exit 1; ${limited}`,
    );
    return { ok: true, output, exitCode, truncated, timedOut: exitCode === TIMED_OUT };
  }

  async list(path: string): Promise<FileResult<{ entries: FileEntry[] }>> {
    const folder = quoted(this.#at(path));
    const { output, exitCode, truncated } = await this.#sandbox.execute(
      `cd ${folder} 2>/dev/null || { [ -e ${folder} ] && exit ${OTHER}; exit ${MISSING}; }
for name in * .[!.]* ..?*; do
  if [ -h "$name" ]; then continue
  elif [ -d "$name" ]; then printf '/ %s\\n' "$name"
  elif [ -f "$name" ]; then printf '%d %s\\n' "$(wc -c < "$name")" "$name"
  fi
done`,
    );
    if (exitCode === MISSING) return path === "/" ? { ok: true, entries: [] } : noSuchFolder(path);
    if (exitCode === OTHER) return notAFolder(path);
    if (exitCode !== 0) return this.#failed(path, "listed", output);
    if (truncated) return fail(`"${path}" has too many entries to be listed.`);
    const entries = output.split("\n").flatMap((line) => {
      const [, size, name] = /^(\/|\d+) (.+)$/.exec(line) ?? [];
      if (name === undefined || !isPlain(pathIn(path, name))) return [];
      const isDirectory = size === "/";
      return [{ name, path: pathIn(path, name), isDirectory, ...(!isDirectory && { size: Number(size) }) }];
    });
    return { ok: true, entries };
  }

  async read(path: string): Promise<FileResult<{ content: string }>> {
    const file = await this.readBytes(path);
    return file.ok ? decodeText(file.bytes, path) : file;
  }

  async readBytes(path: string): Promise<FileResult<{ bytes: Uint8Array }>> {
    if (path === "/") return notAFile(path);
    const [file] = await this.#sandbox.downloadFiles([this.#at(path)]);
    if (!file?.content) {
      const kind = await this.#kindOf(path);
      return kind === "folder"
        ? notAFile(path)
        : kind === "missing" || file?.error === "file_not_found"
          ? noSuchFile(path)
          : this.#failed(path, "read", file?.error);
    }
    if (file.content.length <= this.maxBytes) return { ok: true, bytes: file.content };
    const sizes = `${file.content.length} bytes; files of up to ${this.maxBytes} can be read`;
    return fail(`"${path}" has ${sizes}.`, "too-large");
  }

  async write(path: string, content: string): Promise<FileResult<{ created: boolean }>> {
    return this.writeBytes(path, Buffer.from(content));
  }

  writeBytes(path: string, bytes: Uint8Array): Promise<FileResult<{ created: boolean }>> {
    return exclusive(this.#sandbox, this.#at(path), () => this.#put(path, bytes));
  }

  swap(path: string, before: string, content: string): Promise<FileResult<{ swapped: boolean }>> {
    return exclusive(this.#sandbox, this.#at(path), async () => {
      const now = await this.read(path);
      if (!now.ok) return now;
      if (now.content !== before) return { ok: true, swapped: false };
      const result = await this.#put(path, Buffer.from(content));
      return result.ok ? { ok: true, swapped: true } : result;
    });
  }

  async delete(path: string): Promise<FileResult> {
    const kind = await this.#kindOf(path);
    if (kind === "missing") return noSuchFile(path);
    if (kind === "folder") return notAFile(path);
    return this.#remove(path);
  }

  deleteFolder(path: string): Promise<FileResult> {
    return this.#remove(path);
  }

  async *walk(
    folder: string,
    { pass }: Parameters<NonNullable<FileOperations["walk"]>>[1],
  ): AsyncGenerator<string> {
    const { output, truncated } = await this.#sandbox.execute(
      `cd ${quoted(this.#at(folder))} 2>/dev/null && find . -name '*\n*' -prune -o -type f -print`,
    );
    const lines = output.split("\n");
    // The last line of a truncated output may be incomplete.
    if (truncated) {
      lines.pop();
      pass.miss(folder);
    }
    const paths = lines.flatMap((line) => (line.startsWith("./") ? pathIn(folder, line.slice(2)) : []));
    yield* paths.filter(isPlain).toSorted(inOrder);
  }

  /** The path in the sandbox. */
  #at(path: string): string {
    return path === "/" ? this.#root || "/" : `${this.#root}${path}`;
  }

  async #put(path: string, bytes: Uint8Array): Promise<FileResult<{ created: boolean }>> {
    const kind = await this.#kindOf(path);
    if (kind === "folder") return notAFile(path);
    if (kind === "missing") {
      const mkdir = await this.#sandbox.execute(`mkdir -p ${quoted(this.#at(parentOf(path)))}`);
      if (mkdir.exitCode !== 0)
        return (await this.#inTheWay(path)) ?? this.#failed(path, "written", mkdir.output);
    }
    const [file] = await this.#sandbox.uploadFiles([[this.#at(path), bytes]]);
    return file?.error
      ? this.#failed(path, "written", file.error)
      : { ok: true, created: kind === "missing" };
  }

  async #kindOf(path: string): Promise<"file" | "folder" | "missing"> {
    if (path === "/") return "folder";
    const place = quoted(this.#at(path));
    const { exitCode } = await this.#sandbox.execute(
      `[ -d ${place} ] && exit ${OTHER}; [ -e ${place} ] || exit ${MISSING}`,
    );
    return exitCode === OTHER ? "folder" : exitCode === MISSING ? "missing" : "file";
  }

  async #inTheWay(path: string): Promise<Failure | undefined> {
    for (const folder of foldersAbove(path)) {
      if ((await this.#kindOf(folder)) === "file") return fileInTheWay(path, folder);
    }
    return undefined;
  }

  async #remove(path: string): Promise<FileResult> {
    const { exitCode, output } = await this.#sandbox.execute(`rm -rf -- ${quoted(this.#at(path))}`);
    return exitCode === 0 ? { ok: true } : this.#failed(path, "deleted", output);
  }

  /** The sandbox's error, without the sandbox's own root in its paths. */
  #failed(path: string, action: string, message: string | null | undefined): Failure {
    const reason =
      (message ?? "").trim().replaceAll(this.#root || "\0", "") || "the sandbox does not say why";
    return fail(`"${path}" cannot be ${action}: ${reason.replaceAll('"', "'")}.`);
  }
}

/** Two exit codes of our own, and that of `timeout`. */
const [MISSING, OTHER, TIMED_OUT] = [44, 45, 124];

/** Whether a path is valid and normalized. */
function isPlain(path: string): boolean {
  const parsed = parsePath(path);
  return parsed.ok && parsed.path === path && nameOf(path) !== "";
}

/** Quotes a text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
