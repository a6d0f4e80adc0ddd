import { createMiddleware } from "langchain";
import type { FileBackend } from "../../files/index.ts";
import { filesMiddlewareOf, type FilesOptions } from "../files/index.ts";
import { Workspace, type BackendContext } from "../files/workspace.ts";
import { threadFolders } from "../thread-data/index.ts";
import { lazily } from "./lazily.ts";
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
  return sandboxMiddlewareOf(new Sandboxes(options), options);
}

/** The middleware of sandboxes that other parts of a harness use too. */
export function sandboxMiddlewareOf(
  sandboxes: Sandboxes,
  { permissions, resultLimit }: Pick<SandboxOptions, "permissions" | "resultLimit">,
) {
  const workspace = new Workspace({
    backend: sandboxes.backend,
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
      const id = runtime.configurable?.["thread_id"];
      await sandboxes.release(typeof id === "string" ? id : "thread");
    },
  });
}

/** A sandbox in use, and by how many. */
interface Lease {
  sandbox: Promise<Sandbox>;
  users: number;
}

/** All sandboxes of a provider, by thread: agents that are built per request find the ones of earlier requests here. */
const leases = new WeakMap<SandboxProvider, Map<string, Lease>>();
const sharedProvider = localSandboxProvider();

/** The sandboxes that one agent uses. */
export class Sandboxes {
  readonly #provider: SandboxProvider;
  readonly #baseDir: string;
  readonly #leases: Map<string, Lease>;
  /** Threads for which this agent counts among the users. */
  readonly #held = new Set<string>();

  constructor({
    provider = sharedProvider,
    baseDir = ".holdfast/threads",
  }: Pick<SandboxOptions, "provider" | "baseDir">) {
    this.#provider = provider;
    this.#baseDir = baseDir;
    this.#leases = leases.get(provider) ?? new Map<string, Lease>();
    leases.set(provider, this.#leases);
  }

  /** A backend in the thread's sandbox, for `Workspace`. */
  readonly backend = ({ threadId }: Pick<BackendContext, "threadId">): FileBackend =>
    lazily(async () => (await this.#acquire(threadId)).backend);

  /** Ends this agent's use; the last user's end releases the sandbox. A failure is reported, not thrown. */
  async release(threadId: string): Promise<void> {
    const lease = this.#leases.get(threadId);
    if (!lease || !this.#held.delete(threadId)) return;
    lease.users -= 1;
    if (lease.users > 0) return;
    this.#leases.delete(threadId);
    try {
      await this.#provider.release(await lease.sandbox);
    } catch (error) {
      process.emitWarning(
        `Releasing a sandbox failed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  #acquire(threadId: string): Promise<Sandbox> {
    const lease = this.#leases.get(threadId) ?? this.#lease(threadId);
    if (!this.#held.has(threadId)) {
      this.#held.add(threadId);
      lease.users += 1;
    }
    return lease.sandbox;
  }

  #lease(threadId: string): Lease {
    const folders = threadFolders(this.#baseDir, threadId);
    const lease: Lease = { sandbox: this.#provider.acquire({ threadId, folders }), users: 0 };
    this.#leases.set(threadId, lease);
    // One that could not be had is asked for again next time.
    lease.sandbox.catch(() => {
      this.#leases.delete(threadId);
      this.#held.delete(threadId);
    });
    return lease;
  }
}

export { localSandboxProvider, MOUNT, type LocalSandboxOptions } from "./local.ts";
export type { Sandbox, SandboxProvider } from "./provider.ts";
