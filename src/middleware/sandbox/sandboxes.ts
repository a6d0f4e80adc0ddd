import type { FileBackend } from "../../files/index.ts";
import type { BackendContext } from "../files/index.ts";
import { isInThread, runIdOf, threadIdOf, type RunContext, threadFolders } from "../thread-data/index.ts";
import { Lease } from "./lease.ts";
import { localSandboxProvider } from "./local.ts";
import type { SandboxProvider } from "./provider.ts";

/** The leases of each provider, by folder. Shared, so that agents built per request find those of earlier requests. */
const leases = new WeakMap<SandboxProvider, Map<string, Lease>>();
const sharedProvider = localSandboxProvider();

/** The sandboxes of one agent's threads. */
export class Sandboxes {
  readonly #provider: SandboxProvider;
  readonly #baseDir: string | undefined;
  readonly #leases: Map<string, Lease>;

  constructor(options: { provider?: SandboxProvider; baseDir?: string }) {
    const { provider = sharedProvider, baseDir } = options;
    this.#provider = provider;
    this.#baseDir = baseDir;
    this.#leases = leases.get(provider) ?? new Map<string, Lease>();
    leases.set(provider, this.#leases);
  }

  /** Whether commands are isolated from the host, or not run at all. */
  get isolated(): boolean {
    return this.#provider.isolated ?? true;
  }

  /** Returns a backend in the thread's sandbox, which is acquired on first use. */
  readonly backend = ({ threadId }: Pick<BackendContext, "threadId">): FileBackend =>
    lazyBackend(() => this.#with(threadId, async (lease) => (await lease.sandbox()).backend));

  /** Runs a model or tool call, during which the end of another run does not release the sandbox. */
  during<Result>(
    runtime: RunContext & { signal?: AbortSignal },
    makeCall: () => Promise<Result> | Result,
  ): Promise<Result> {
    const call = { run: runKeyOf(runtime), signal: runtime.signal };
    return this.#with(threadIdOf(runtime), async (lease) => {
      lease.begin(call);
      let failed = true;
      try {
        const result = await makeCall();
        failed = false;
        return result;
      } finally {
        lease.end(call, { failed });
        // Without a thread, no later run can use the sandbox.
        if (failed && !isInThread(runtime)) await lease.release(call.run);
      }
    });
  }

  /** Ends a run's use of its sandbox. */
  release(runtime: RunContext): Promise<void> {
    return this.#with(threadIdOf(runtime), (lease) => lease.release(runKeyOf(runtime)));
  }

  /** Calls `use` with the lease of a thread, and deletes the lease if it is idle afterwards. */
  async #with<Result>(threadId: string, use: (lease: Lease) => Promise<Result>): Promise<Result> {
    const folders = threadFolders(this.#baseDir, threadId);
    // Not the thread's id: other agents may have other folders for a thread with the same id.
    const key = folders.workspace;
    const lease = this.#leases.get(key) ?? new Lease(this.#provider, { threadId, folders });
    this.#leases.set(key, lease);
    try {
      return await use(lease);
    } finally {
      if (lease.isIdle && this.#leases.get(key) === lease) this.#leases.delete(key);
    }
  }
}

/** The id of a run, different for two agents in one graph. */
function runKeyOf(runtime: RunContext): string {
  const namespace = runtime.configurable?.["checkpoint_ns"];
  const nodes = typeof namespace === "string" ? namespace.split("|") : [];
  return [runIdOf(runtime), ...nodes.slice(0, -1)].join("|");
}

/** A backend that gets the real one for each operation. */
function lazyBackend(open: () => Promise<FileBackend>): FileBackend {
  return {
    list: async (path, options) => (await open()).list(path, options),
    read: async (path) => (await open()).read(path),
    readBytes: async (path) => (await open()).readBytes(path),
    writeBytes: async (path, bytes) => (await open()).writeBytes(path, bytes),
    write: async (path, content) => (await open()).write(path, content),
    delete: async (path) => (await open()).delete(path),
    edit: async (path, edit) => (await open()).edit(path, edit),
    glob: async (pattern, scope) => (await open()).glob(pattern, scope),
    grep: async (query) => (await open()).grep(query),
    execute: async (command, options) => {
      const backend = await open();
      if (!backend.execute) return { ok: false, error: "Commands cannot be run in this sandbox." };
      return backend.execute(command, options);
    },
  };
}
