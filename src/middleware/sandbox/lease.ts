import type { ThreadData } from "../thread-data/index.ts";
import type { Sandbox, SandboxProvider } from "./provider.ts";

/** A call of a model or a tool, and the run that makes it. */
export interface Call {
  run: string;
  signal: AbortSignal | undefined;
}

/**
 * The sandbox of one thread, while there is one, and the runs that use it. LangChain tells nobody that a run failed,
 * was aborted or waits for a person. So a run counts from its first call until it ends or a call of it fails; one
 * that stopped in between counts until another run begins.
 */
export class Lease {
  readonly #provider: SandboxProvider;
  readonly #thread: { threadId: string; folders: ThreadData };
  readonly #runs = new Set<string>();
  readonly #calls = new Set<Call>();
  #sandbox: Promise<Sandbox> | undefined;
  #ending: Promise<void> | undefined;

  constructor(provider: SandboxProvider, thread: { threadId: string; folders: ThreadData }) {
    this.#provider = provider;
    this.#thread = thread;
  }

  /** Whether nothing would be lost with it. */
  get isIdle(): boolean {
    return !this.#sandbox && !this.#ending && this.#calls.size === 0;
  }

  /** The thread's sandbox. One that could not be had is asked for again next time. */
  sandbox(): Promise<Sandbox> {
    if (this.#sandbox) return this.#sandbox;
    const sandbox = this.#acquire();
    this.#sandbox = sandbox;
    sandbox.catch(() => {
      if (this.#sandbox === sandbox) this.#sandbox = undefined;
    });
    return sandbox;
  }

  begin(call: Call): void {
    if (!this.#runs.has(call.run)) {
      const busy = this.#busy();
      for (const run of this.#runs) if (!busy.has(run)) this.#runs.delete(run);
      this.#runs.add(call.run);
    }
    this.#calls.add(call);
  }

  /** Ends a call. A run whose call failed is over, unless it makes another one. */
  end(call: Call, { failed }: { failed: boolean }): void {
    this.#calls.delete(call);
    if (failed || call.signal?.aborted) this.#runs.delete(call.run);
  }

  /** Ends a run; the last one's end releases the sandbox. A failure is reported, not thrown. */
  async release(run: string): Promise<void> {
    this.#runs.delete(run);
    if (!this.#sandbox || this.#runs.size > 0 || this.#busy().size > 0) return;
    const ending = this.#release(this.#sandbox);
    this.#sandbox = undefined;
    this.#ending = ending;
    await ending;
    if (this.#ending === ending) this.#ending = undefined;
  }

  /** The runs with calls that go on. An aborted run has ended, also when its model or tool has not noticed. */
  #busy(): Set<string> {
    return new Set([...this.#calls].filter(({ signal }) => !signal?.aborted).map(({ run }) => run));
  }

  async #acquire(): Promise<Sandbox> {
    // A provider may know a sandbox by its thread, and must not get the new one and the old one mixed up.
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
