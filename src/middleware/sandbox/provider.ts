import type { FileBackend } from "../../files/index.ts";
import type { ThreadData } from "../thread-data/index.ts";

/** A place where an agent's commands run and its files are, for one thread. */
export interface Sandbox {
  id: string;
  /** Its isolation from the host, for people to read. */
  isolation: string;
  /** Files and commands, with the paths that commands see. */
  backend: FileBackend;
}

/** Where sandboxes come from. A remote one implements the same two calls. */
export interface SandboxProvider {
  name: string;
  /** `false` where commands run with the rights of this process: the model is told so. Default true. */
  isolated?: boolean;
  /**
   * Called when a tool of the thread first needs it. Threads of two base directories may have the same id: what is
   * kept by thread has to be kept by `folders`.
   */
  acquire(thread: { threadId: string; folders: ThreadData }): Promise<Sandbox>;
  /** Called when no run of the thread uses it any more. Must not fail for a sandbox that is gone. */
  release(sandbox: Sandbox): Promise<void>;
}
