import type { StreamMode } from "@langchain/langgraph";
import type { RunRequest } from "./request.ts";

/** Modes that are always streamed, for readers that join later. */
const ALWAYS: StreamMode[] = ["values", "updates", "custom"];

/** Modes that cost something for every node: callbacks, or a copy of the whole state. */
const COSTLY: StreamMode[] = ["messages", "tools", "tasks", "checkpoints"];

/** Modes by the names that LangGraph's clients use. */
const ALIASES: Record<string, StreamMode[]> = {
  "messages-tuple": ["messages"],
  debug: ["tasks", "checkpoints"],
};

/** A request that streams every mode, for a thread that may be watched in LangGraph's newer protocol. */
export function inAllModes(request: RunRequest): RunRequest {
  return { ...request, modes: COSTLY };
}

export function streamModes({ modes }: Pick<RunRequest, "modes">): StreamMode[] {
  const requested = modes?.flatMap((mode) => ALIASES[mode] ?? (mode as StreamMode));
  return [...ALWAYS, ...COSTLY.filter((mode) => requested?.includes(mode) ?? true)];
}
