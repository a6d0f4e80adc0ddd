import type { Ending } from "../src/threads/events/ending.ts";
import type { RunEventBody } from "../src/threads/events/events.ts";
import type { PlanEdits } from "../src/threads/plan/plan-edits.ts";
import type { RunAgent } from "../src/threads/prepare/agent.ts";
import { runGraph } from "../src/threads/run/run-graph.ts";
import { Thread } from "../src/threads/thread/thread.ts";

/** Drives the thread `t` with nobody who answers or stops it. */
export function driveAlone(
  agent: RunAgent,
  input: object,
  edits?: PlanEdits,
  emit: (event: RunEventBody) => void = () => {},
): Promise<Ending> {
  return runGraph(input, {
    thread: new Thread(agent, "t"),
    model: { name: "scripted" },
    emit,
    signal: new AbortController().signal,
    answer: async () => undefined,
    ...(edits && { edits }),
  });
}
