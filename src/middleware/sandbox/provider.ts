import type { FileBackend } from "../../files/index.ts";
import type { ThreadData } from "../thread-data/index.ts";

/** The files and commands of one thread. */
export interface Sandbox {
  id: string;
  /** A description of its isolation from the host, for users. */
  isolation: string;
  /** Files and commands, with the paths that commands see. */
  backend: FileBackend;
}

/** Creates and releases sandboxes, on this machine or a remote one. */
export interface SandboxProvider {
  name: string;
  /** `false` if commands run with the rights of this process: the model is notified. Default true. */
  isolated?: boolean;
  /**
   * Called when a tool of the thread first needs the sandbox. Threads in two base directories may have the same id, so
   * use `folders` to identify a thread.
   */
  acquire(thread: { threadId: string; folders: ThreadData }): Promise<Sandbox>;
  /** Called when no run of the thread uses the sandbox any more. Must not fail for one that no longer exists. */
  release(sandbox: Sandbox): Promise<void>;
}
