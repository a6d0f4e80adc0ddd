import type { StreamMode } from "@langchain/langgraph";
import type { RunRequest } from "./request.ts";

/** Modes that are always streamed, for readers that come later. */
const ALWAYS: StreamMode[] = ["values", "updates", "custom"];

/** Modes that cost something for every node: callbacks, or a copy of the whole state. */
const COSTLY: StreamMode[] = ["messages", "tools", "tasks", "checkpoints"];

/** Modes that LangGraph's clients call by other names. */
const MADE_OF: Record<string, StreamMode[]> = {
  "messages-tuple": ["messages"],
  debug: ["tasks", "checkpoints"],
};

/** For a thread that may be watched in LangGraph's newer protocol, whatever the run's starter wants of the older one. */
export function inAllModes(request: RunRequest): RunRequest {
  return { ...request, modes: COSTLY };
}

/** The modes that a run is streamed in; each chunk is made once, whoever reads it. */
export function streamModes({ modes }: Pick<RunRequest, "modes">): StreamMode[] {
  const wanted = modes?.flatMap((mode) => MADE_OF[mode] ?? (mode as StreamMode));
  return [...ALWAYS, ...COSTLY.filter((mode) => wanted?.includes(mode) ?? true)];
}
