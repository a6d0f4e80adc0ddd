import type { BaseMessage } from "@langchain/core/messages";
import { setBounded } from "../../state/index.ts";
import type { ToolRuntime } from "../../tools/index.ts";

/** The state field with the moment at which a thread began to use its files. */
export const SINCE = "_filesSince";

interface FilesState {
  messages?: readonly BaseMessage[];
  [SINCE]?: number;
}

/** When this process first saw a thread that has no such moment yet, by the id of its first message. */
const starts = new Map<string, number>();

/** Notes the start of a thread; call it with the state of every model call. */
export function noteStart(state: unknown): void {
  const { messages, [SINCE]: since } = (state ?? {}) as FilesState;
  const id = messages?.[0]?.id;
  if (since === undefined && id !== undefined && !starts.has(id)) setBounded(starts, id, Date.now());
}

/** The moment, for a call; undefined for a sub-agent's, whose thread began before it. */
export function sinceOf({ state, configurable }: ToolRuntime): number | undefined {
  const ns = configurable?.["checkpoint_ns"];
  if (typeof ns === "string" && ns.includes("|")) return undefined;
  const { messages, [SINCE]: since } = (state ?? {}) as FilesState;
  return since ?? starts.get(messages?.[0]?.id ?? "");
}

/** The update that a call has to make so that the moment is kept; empty where it is. */
export function sinceUpdate(runtime: ToolRuntime): { [SINCE]?: number } {
  const { [SINCE]: known } = (runtime.state ?? {}) as FilesState;
  const since = known === undefined ? sinceOf(runtime) : undefined;
  return since === undefined ? {} : { [SINCE]: since };
}
