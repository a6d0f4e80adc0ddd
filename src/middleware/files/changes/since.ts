import type { BaseMessage } from "@langchain/core/messages";
import { setBounded } from "../../state/index.ts";
import type { ToolRuntime } from "../../tools/index.ts";

/** The state field with the time at which a thread began to use its files. */
export const SINCE = "_filesSince";

interface FilesState {
  messages?: readonly BaseMessage[];
  [SINCE]?: number;
}

/** Times at which this process first saw threads without the field, by the id of their first message. */
const starts = new Map<string, number>();

/** Notes the start of a thread. Call it with the state of every model call. */
export function noteStart(state: unknown): void {
  const { messages, [SINCE]: since } = (state ?? {}) as FilesState;
  const id = messages?.[0]?.id;
  if (since === undefined && id !== undefined && !starts.has(id)) setBounded(starts, id, Date.now());
}

/** The time for a call; undefined in a sub-agent, whose thread began before it. */
export function sinceOf({ state, configurable }: ToolRuntime): number | undefined {
  const ns = configurable?.["checkpoint_ns"];
  if (typeof ns === "string" && ns.includes("|")) return undefined;
  const { messages, [SINCE]: since } = (state ?? {}) as FilesState;
  return since ?? starts.get(messages?.[0]?.id ?? "");
}

/** A state update that saves the time; empty if it is saved already. */
export function sinceUpdate(runtime: ToolRuntime): { [SINCE]?: number } {
  const { [SINCE]: savedTime } = (runtime.state ?? {}) as FilesState;
  const since = savedTime === undefined ? sinceOf(runtime) : undefined;
  return since === undefined ? {} : { [SINCE]: since };
}
