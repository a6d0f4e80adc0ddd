import type { FileBackend } from "../../files/index.ts";
import type { BackendContext } from "../files/index.ts";
import { isInThread, runIdOf, threadIdOf, type RunContext, threadFolders } from "../thread-data/index.ts";
import { Lease } from "./lease.ts";
import { localSandboxProvider } from "./local.ts";
import type { SandboxProvider } from "./provider.ts";

/** All leases of a provider, by folder: agents that are built per request find the ones of earlier requests here. */
const leases = new WeakMap<SandboxProvider, Map<string, Lease>>();
const sharedProvider = localSandboxProvider();

/** The sandboxes that one agent uses. */
export class Sandboxes {
  readonly #provider: SandboxProvider;
  readonly #baseDir: string;
  readonly #leases: Map<string, Lease>;

  constructor(options: { provider?: SandboxProvider; baseDir?: string }) {
    const { provider = sharedProvider, baseDir = ".holdfast/threads" } = options;
    this.#provider = provider;
    this.#baseDir = baseDir;
    this.#leases = leases.get(provider) ?? new Map<string, Lease>();
    leases.set(provider, this.#leases);
  }

  /** Whether commands are kept apart from the host, or not run at all. */
  get isolated(): boolean {
    return this.#provider.isolated ?? true;
  }

  /** A backend in the thread's sandbox, for `Workspace`. */
  readonly backend = ({ threadId }: Pick<BackendContext, "threadId">): FileBackend =>
    lazily(() => this.#with(threadId, async (lease) => (await lease.sandbox()).backend));

  /** Makes a model or tool call of a run, during which no other run's end releases the sandbox. */
  during<Result>(
    runtime: RunContext & { signal?: AbortSignal | undefined },
    make: () => Promise<Result> | Result,
  ): Promise<Result> {
    const call = { run: nameOf(runtime), signal: runtime.signal };
    return this.#with(threadIdOf(runtime), async (lease) => {
      lease.begin(call);
      let failed = true;
      try {
        const result = await make();
        failed = false;
        return result;
      } finally {
        lease.end(call, { failed });
        // No other run can follow this one.
        if (failed && !isInThread(runtime)) await lease.release(call.run);
      }
    });
  }

  /** Ends a run's use of its sandbox. */
  release(runtime: RunContext): Promise<void> {
    return this.#with(threadIdOf(runtime), (lease) => lease.release(nameOf(runtime)));
  }

  /** Does something with the lease of a thread, which is forgotten when nothing is left in it. */
  async #with<Result>(threadId: string, use: (lease: Lease) => Promise<Result>): Promise<Result> {
    const folders = threadFolders(this.#baseDir, threadId);
    // Not the thread's id: other agents may have other folders for a thread of the same name.
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

/** Tells the runs of a thread apart, also those of two agents in one graph. */
function nameOf(runtime: RunContext): string {
  const namespace = runtime.configurable?.["checkpoint_ns"];
  const nodes = typeof namespace === "string" ? namespace.split("|") : [];
  return [runIdOf(runtime), ...nodes.slice(0, -1)].join("|");
}

function lazily(make: () => Promise<FileBackend>): FileBackend {
  return {
    list: async (path, options) => (await make()).list(path, options),
    read: async (path) => (await make()).read(path),
    readBytes: async (path) => (await make()).readBytes(path),
    writeBytes: async (path, bytes) => (await make()).writeBytes(path, bytes),
    write: async (path, content) => (await make()).write(path, content),
    delete: async (path) => (await make()).delete(path),
    edit: async (path, edit) => (await make()).edit(path, edit),
    glob: async (pattern, scope) => (await make()).glob(pattern, scope),
    grep: async (query) => (await make()).grep(query),
    execute: async (command, options) => {
      const backend = await make();
      if (!backend.execute) return { ok: false, error: "Commands cannot be run in this sandbox." };
      return backend.execute(command, options);
    },
  };
}
