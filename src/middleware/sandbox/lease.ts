import type { ThreadData } from "../thread-data/index.ts";
import type { Sandbox, SandboxProvider } from "./provider.ts";

/**
 * The sandbox of one thread, while there is one, and the calls that are made meanwhile. LangChain tells nobody that a
 * run failed, was aborted or waits for a person: the end of the thread's next run releases it then.
 */
export class Lease {
  readonly #provider: SandboxProvider;
  readonly #thread: { threadId: string; folders: ThreadData };
  readonly #calls = new Set<{ signal: AbortSignal | undefined }>();
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

  /** Notes a call of a model or a tool. Returns a function that ends it. */
  begin(signal: AbortSignal | undefined): () => void {
    const call = { signal };
    this.#calls.add(call);
    return () => void this.#calls.delete(call);
  }

  /** Releases the sandbox at the end of a run, unless another one is in a call. A failure is reported, not thrown. */
  async release(): Promise<void> {
    // An aborted run has ended, also when its model or tool has not noticed.
    const isBusy = [...this.#calls].some(({ signal }) => !signal?.aborted);
    if (!this.#sandbox || isBusy) return;
    const ending = this.#release(this.#sandbox);
    this.#sandbox = undefined;
    this.#ending = ending;
    await ending;
    if (this.#ending === ending) this.#ending = undefined;
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
