import type { ThreadData } from "../thread-data/index.ts";
import type { Sandbox, SandboxProvider } from "./provider.ts";

/** A model or tool call running. */
export interface LeasedCall {
  /** The id of the run that makes it. */
  run: string;
  signal: AbortSignal | undefined;
}

/**
 * The sandbox of one thread, if it has one, and the runs that use it. LangChain has no event for a run that failed, was
 * aborted or waits for the user. So a run counts from its first call until it ends or one of its calls fails; a run
 * that stopped in between counts until another run begins.
 */
export class Lease {
  readonly #provider: SandboxProvider;
  readonly #thread: { threadId: string; folders: ThreadData };
  readonly #runs = new Set<string>();
  readonly #calls = new Set<LeasedCall>();
  #sandbox: Promise<Sandbox> | undefined;
  #ending: Promise<void> | undefined;

  constructor(provider: SandboxProvider, thread: { threadId: string; folders: ThreadData }) {
    this.#provider = provider;
    this.#thread = thread;
  }

  /** Whether the lease has no sandbox and no calls, so that it can be dropped. */
  get isIdle(): boolean {
    return !this.#sandbox && !this.#ending && this.#calls.size === 0;
  }

  /** Returns the thread's sandbox, and acquires it if there is none. A failed acquisition is retried by the next call. */
  sandbox(): Promise<Sandbox> {
    if (this.#sandbox) return this.#sandbox;
    const sandbox = this.#acquire();
    this.#sandbox = sandbox;
    sandbox.catch(() => {
      if (this.#sandbox === sandbox) this.#sandbox = undefined;
    });
    return sandbox;
  }

  begin(call: LeasedCall): void {
    if (!this.#runs.has(call.run)) {
      const busy = this.#busy();
      for (const run of this.#runs) if (!busy.has(run)) this.#runs.delete(run);
      this.#runs.add(call.run);
    }
    this.#calls.add(call);
  }

  /** Ends a call. A failed call ends its run, unless that makes another one. */
  end(call: LeasedCall, { failed }: { failed: boolean }): void {
    this.#calls.delete(call);
    if (failed || call.signal?.aborted) this.#runs.delete(call.run);
  }

  /** Ends a run; the end of the last run releases the sandbox. A failure to release is a process warning. */
  async release(run: string): Promise<void> {
    this.#runs.delete(run);
    if (!this.#sandbox || this.#runs.size > 0 || this.#busy().size > 0) return;
    const ending = this.#release(this.#sandbox);
    this.#sandbox = undefined;
    this.#ending = ending;
    await ending;
    if (this.#ending === ending) this.#ending = undefined;
  }

  /** The runs with calls running. An aborted run does not count, even if its model or tool has not noticed. */
  #busy(): Set<string> {
    return new Set([...this.#calls].filter(({ signal }) => !signal?.aborted).map(({ run }) => run));
  }

  async #acquire(): Promise<Sandbox> {
    // A provider may identify a sandbox by its thread: the old one is released before a new one is acquired.
    await this.#ending;
    return this.#provider.acquire(this.#thread);
  }

  async #release(sandbox: Promise<Sandbox>): Promise<void> {
    try {
      await this.#provider.release(await sandbox);
    } catch (error) {
      process.emitWarning(
        `Releasing a sandbox failed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
