import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { Command, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { harnessField, lastValue } from "../state/index.ts";
import { threadIdOf } from "./thread-id.ts";

export { inThread, isInThread, type RunContext, threadIdOf, runIdOf } from "./thread-id.ts";

/** The folders of a thread, as absolute paths. They are created on first use. */
export interface ThreadData {
  workspace: string;
  uploads: string;
  outputs: string;
}

/** Options of `threadDataMiddleware`. */
export interface ThreadDataOptions {
  /** The base directory of all threads' folders. Default `.holdfast/threads` in the current directory. */
  baseDir?: string;
}

const DEFAULT_BASE = ".holdfast/threads";

/**
 * Puts the paths of the thread's folders into the graph state as `threadData`, without creating them. A run without a
 * `thread_id` has its own folders.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { threadDataMiddleware } from "holdfast";
 *
 * const agent = createAgent({
 *   model: "openai:gpt-5.1",
 *   middleware: [threadDataMiddleware({ baseDir: "./threads" })],
 * });
 * const { threadData } = await agent.invoke({ messages: "Hello" }, { configurable: { thread_id: "1" } });
 * ```
 */
export function threadDataMiddleware({ baseDir }: ThreadDataOptions = {}) {
  return createMiddleware({
    name: "ThreadDataMiddleware",
    stateSchema: new StateSchema({
      threadData: harnessField(
        lastValue(z.object({ workspace: z.string(), uploads: z.string(), outputs: z.string() }).optional()),
      ),
    }),
    wrapModelCall: async (request, handler) => {
      const threadData = threadFolders(baseDir, threadIdOf(request.runtime));
      const current = request.state.threadData;
      const answer = await handler(request);
      if (current?.workspace === threadData.workspace || !AIMessage.isInstance(answer)) return answer;
      return new Command({ update: { threadData } });
    },
  });
}

/**
 * The folders of a thread. Default base directory: `.holdfast/threads`. No thread id gives a path outside of it, or in
 * another thread's folders.
 */
export function threadFolders(baseDir: string | undefined, threadId: string): ThreadData {
  const root = join(resolve(baseDir ?? DEFAULT_BASE), folderName(threadId), "user-data");
  return {
    workspace: join(root, "workspace"),
    uploads: join(root, "uploads"),
    outputs: join(root, "outputs"),
  };
}

/** A folder name for a thread id: the id itself if it is plain, else its hash. No two ids share a name. */
function folderName(id: string): string {
  const isPlain = /^[a-z0-9][a-z0-9_-]{0,63}$/.test(id) && !/^h-[0-9a-f]{40}$/.test(id);
  return isPlain ? id : `h-${createHash("sha256").update(id).digest("hex").slice(0, 40)}`;
}
