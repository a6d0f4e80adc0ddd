import { fork, type ChildProcess } from "node:child_process";
import { dirname } from "node:path";
import { isSource, packageFile } from "../../../package-file.ts";
import type { FileResult } from "../../backend/index.ts";
import type { PlainFiles } from "../plain-files.ts";

/** One operation on the files below a root. */
export interface Request {
  id: number;
  root: string;
  method: keyof PlainFiles;
  args: readonly unknown[];
}

/** The result of an operation, or the text of an unexpected error. */
export interface Reply {
  id: number;
  result?: FileResult;
  bug?: string;
}

interface Waiting {
  resolve: (result: FileResult) => void;
  reject: (error: Error) => void;
}

/** Operations on the files below a root, done by the keeper process. */
export function keeperFiles(root: string): PlainFiles {
  const ask =
    (method: keyof PlainFiles) =>
    (...args: unknown[]): Promise<FileResult> =>
      keeper.ask({ root, method, args });
  // The reply is the result of the same method in the keeper's process.
  return Object.fromEntries(METHODS.map((method) => [method, ask(method)])) as unknown as PlainFiles;
}

const METHODS = ["list", "entries", "readBytes", "put", "delete", "deleteFolder"] as const;

/**
 * A child process that does file operations on systems without descriptor paths. It keeps a folder open as its working
 * folder. A process has only one, so the child handles one request at a time.
 */
class Keeper {
  #child: ChildProcess | undefined;
  #waiting = new Map<number, Waiting>();
  #lastId = 0;

  ask(request: Omit<Request, "id">): Promise<FileResult> {
    const child = (this.#child ??= this.#start());
    const waiting = this.#waiting;
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      child.channel?.ref();
      child.send({ id, ...request } satisfies Request, (error) => {
        if (error) this.#lose(child, waiting);
      });
    });
  }

  #start(): ChildProcess {
    const file = packageFile(
      isSource ? "src/files/disk/keeper/keeper-process.ts" : "dist/files/disk/keeper/keeper-process.js",
    );
    const child = fork(file, {
      // Node needs a loader for the source.
      execArgv: isSource ? ["--import", "tsx"] : [],
      cwd: dirname(file),
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      // In its own session: the terminal's signals must not reach it.
      detached: process.platform !== "win32",
    });
    const waiting = (this.#waiting = new Map<number, Waiting>());
    const end = (): void => this.#lose(child, waiting);
    child.on("error", end).on("exit", end).on("disconnect", end);
    child.on("message", ({ id, result, bug }: Reply) => {
      const request = waiting.get(id);
      waiting.delete(id);
      if (waiting.size === 0) child.channel?.unref();
      if (result) request?.resolve(result);
      else request?.reject(new Error(bug));
    });
    child.unref();
    return child;
  }

  /** Rejects the requests of a lost child; the next request starts a new one. Requests are not repeated. */
  #lose(child: ChildProcess, waiting: Map<number, Waiting>): void {
    if (this.#child === child) this.#child = undefined;
    const error = Object.assign(new Error("The process that uses files has ended."), { code: "ECONNRESET" });
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }
}

/** One per process, started on demand. It ends with the process. */
const keeper = new Keeper();
