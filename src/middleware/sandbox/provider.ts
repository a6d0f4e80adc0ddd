import type { FileBackend } from "../../files/index.ts";
import type { ThreadData } from "../thread-data/index.ts";

/** A place where an agent's commands run and its files are, for one thread. */
export interface Sandbox {
  id: string;
  /** What separates it from the host, for people to read. */
  isolation: string;
  /** Files and commands, with the paths that commands see. */
  backend: FileBackend;
}

/** Where sandboxes come from. A remote one implements the same two calls. */
export interface SandboxProvider {
  name: string;
  /** Called once per run at most, when the first tool needs it. */
  acquire(thread: { threadId: string; folders: ThreadData }): Promise<Sandbox>;
  /** Called when the run has ended. Must not fail for a sandbox that is gone. */
  release(sandbox: Sandbox): Promise<void>;
}
