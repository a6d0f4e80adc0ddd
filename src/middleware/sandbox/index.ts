import { createMiddleware } from "langchain";
import type { FileBackend } from "../../files/index.ts";
import { filesMiddlewareOf, type FilesOptions } from "../files/index.ts";
import { Workspace, type BackendContext } from "../files/workspace.ts";
import { threadFolders } from "../thread-data/index.ts";
import { localSandboxProvider, MOUNT } from "./local.ts";
import type { Sandbox, SandboxProvider } from "./provider.ts";
import { sandboxPrompt } from "./sandbox.prompt.ts";

/** Options of `sandboxMiddleware`. */
export interface SandboxOptions extends Pick<FilesOptions, "permissions" | "resultLimit"> {
  /** Default: `localSandboxProvider()`. */
  provider?: SandboxProvider;
  /** Where the folders of all threads are; the same as `threadDataMiddleware`'s. */
  baseDir?: string;
}

/**
 * Gives an agent file and shell tools in a sandbox of its thread. The sandbox is acquired when a tool first needs
 * it and released when the run ends; a run that failed keeps it for the thread's next run.
 */
export function sandboxMiddleware(options: SandboxOptions = {}) {
  const {
    provider = localSandboxProvider(),
    baseDir = ".holdfast/threads",
    permissions,
    resultLimit,
  } = options;
  const sandboxes = new Map<string, Promise<Sandbox>>();
  const acquire = (threadId: string): Promise<Sandbox> => {
    const known = sandboxes.get(threadId);
    if (known) return known;
    const fresh = provider.acquire({ threadId, folders: threadFolders(baseDir, threadId) });
    sandboxes.set(threadId, fresh);
    // One that could not be had is asked for again next time.
    fresh.catch(() => sandboxes.delete(threadId));
    return fresh;
  };
  const workspace = new Workspace({
    backend: ({ threadId }: BackendContext) => lazily(async () => (await acquire(threadId)).backend),
    canExecute: true,
    ...(permissions && { permissions }),
  });
  const files = filesMiddlewareOf(workspace, {
    systemPrompt: sandboxPrompt(MOUNT),
    ...(resultLimit !== undefined && { resultLimit }),
    resultFolder: `${MOUNT}/outputs/tool_results`,
  });
  return createMiddleware({
    name: "SandboxMiddleware",
    stateSchema: files.stateSchema!,
    tools: files.tools!,
    wrapModelCall: files.wrapModelCall!,
    ...(files.wrapToolCall && { wrapToolCall: files.wrapToolCall }),
    afterAgent: async (_state, runtime) => {
      const id = threadIdOf(runtime.configurable);
      const sandbox = sandboxes.get(id);
      sandboxes.delete(id);
      if (sandbox) await provider.release(await sandbox);
    },
  });
}

function threadIdOf(configurable: Record<string, unknown> | undefined): string {
  const id = configurable?.["thread_id"];
  return typeof id === "string" ? id : "thread";
}

/** A backend that is made when it is first used. */
function lazily(make: () => Promise<FileBackend>): FileBackend {
  return {
    list: async (path) => (await make()).list(path),
    read: async (path) => (await make()).read(path),
    write: async (path, content) => (await make()).write(path, content),
    delete: async (path) => (await make()).delete(path),
    edit: async (path, edit) => (await make()).edit(path, edit),
    glob: async (pattern, scope) => (await make()).glob(pattern, scope),
    grep: async (query) => (await make()).grep(query),
    execute: async (command, options) => {
      const backend = await make();
      return backend.execute
        ? backend.execute(command, options)
        : { ok: false, error: "Commands cannot be run in this sandbox." };
    },
  };
}

export { localSandboxProvider, type LocalSandboxOptions } from "./local.ts";
export type { Sandbox, SandboxProvider } from "./provider.ts";
