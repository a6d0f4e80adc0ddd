import type { RunAgent } from "../src/runs/agent.ts";
import { drive } from "../src/runs/drive.ts";
import type { Ending } from "../src/runs/ending.ts";
import type { PlanEdits } from "../src/runs/plan-edits.ts";

/** Drives the thread `t` with nobody who watches, answers or stops it. */
export function driveAlone(agent: RunAgent, input: object, edits?: PlanEdits): Promise<Ending> {
  return drive(input, {
    agent,
    thread: "t",
    model: { name: "scripted" },
    emit: () => {},
    signal: new AbortController().signal,
    answer: async () => undefined,
    ...(edits && { edits }),
  });
}
