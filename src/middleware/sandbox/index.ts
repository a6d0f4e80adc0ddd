import { createMiddleware } from "langchain";
import { type FilesOptions, Workspace, type WorkspaceParts, filesMiddlewareOf } from "../files/index.ts";
import { answered } from "../tool-errors/index.ts";
import { MOUNT } from "./local.ts";
import type { SandboxProvider } from "./provider.ts";
import { sandboxPrompt } from "./sandbox.prompt.ts";
import { Sandboxes } from "./sandboxes.ts";

/** Options of `sandboxMiddleware`. */
export interface SandboxOptions extends Pick<FilesOptions, "permissions" | "resultLimit"> {
  /** Default: `localSandboxProvider()`. */
  provider?: SandboxProvider;
  /** The base directory of all threads' folders; the same as `threadDataMiddleware`'s. */
  baseDir?: string;
}

/**
 * Gives an agent file and shell tools in a sandbox of its thread. The sandbox is acquired when a tool first needs it
 * and released when the run ends; after a run that failed or waits it stays for the thread's next run. A run without a
 * `thread_id` has its own sandbox and folders.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { sandboxMiddleware, threadDataMiddleware } from "holdfast";
 *
 * const baseDir = "./threads";
 * const middleware = [threadDataMiddleware({ baseDir }), sandboxMiddleware({ baseDir })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function sandboxMiddleware(options: SandboxOptions = {}) {
  return sandboxMiddlewareOf(new Sandboxes(options), options);
}

/** The same for sandboxes that other parts of a harness share. */
export function sandboxMiddlewareOf(
  sandboxes: Sandboxes,
  { permissions, resultLimit }: Pick<SandboxOptions, "permissions" | "resultLimit">,
  parts: Pick<WorkspaceParts, "skills" | "historyFolder"> = {},
) {
  const workspace = new Workspace({ backend: sandboxes.backend, canExecute: true, permissions }, parts);
  const files = filesMiddlewareOf(workspace, {
    systemPrompt: sandboxPrompt(MOUNT, sandboxes),
    resultLimit,
    resultFolder: `${MOUNT}/outputs/tool_results`,
  });
  return createMiddleware({
    name: "SandboxMiddleware",
    stateSchema: files.stateSchema!,
    tools: files.tools!,
    wrapModelCall: (request, handler) =>
      sandboxes.during(request.runtime, () => files.wrapModelCall!(request, handler)),
    wrapToolCall: (request, handler) =>
      sandboxes.during(request.runtime, () => (files.wrapToolCall ?? answered)(request, handler)),
    afterAgent: (_state, runtime) => sandboxes.release(runtime),
  });
}

export { localSandboxProvider, MOUNT, type LocalSandboxOptions } from "./local.ts";
export type { Sandbox, SandboxProvider } from "./provider.ts";
export { Sandboxes } from "./sandboxes.ts";
export { sandboxPrompt } from "./sandbox.prompt.ts";
