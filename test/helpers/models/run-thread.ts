import { HumanMessage, type MessageContent } from "@langchain/core/messages";
import { ending, type Ending } from "../../../src/threads/events/ending.ts";
import type { RunEventBody } from "../../../src/threads/events/events.ts";
import type { PlanEdits } from "../../../src/threads/plan/plan-edits.ts";
import type { RunAgent } from "../../../src/threads/prepare/agent.ts";
import { RunEvents, runThread, type RunThreadOptions } from "../../../src/threads/run/run-thread.ts";
import { Thread, type Hold } from "../../../src/threads/thread/thread.ts";

export type RunGraphOptions = Pick<RunThreadOptions, "thread" | "model" | "signal" | "answer"> &
  Partial<Pick<RunThreadOptions, "edits" | "tap" | "onError">> & { emit: (event: RunEventBody) => void };

/** Runs a thread that nobody holds, and tells what happened between its start and its end. */
export async function runGraph(input: object | null, { emit, ...options }: RunGraphOptions): Promise<Ending> {
  const { thread, edits } = options;
  let held: Hold;
  try {
    held = await thread.acquire();
  } catch (error) {
    await edits?.close();
    return { ...ending(undefined, "failed"), error: (error as Error).message };
  }
  const events = new RunEvents(thread.id, ({ version: _v, at: _at, thread: _t, ...body }) => {
    if (body.type !== "run-start" && body.type !== "run-end") emit(body);
  });
  try {
    return await runThread(input, { ...options, held, events, resumed: false });
  } finally {
    await held();
  }
}

/** The first input of a run: the task, and the values that a later process needs. */
export function taskInput(
  task: MessageContent,
  more: object,
  id: string = crypto.randomUUID(),
): { messages: HumanMessage[] } {
  return { messages: [new HumanMessage({ content: task, id })], ...more };
}

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
