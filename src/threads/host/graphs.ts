import { HarnessError } from "../../errors.ts";
import type { RunAgent, PreparedRun } from "../prepare/index.ts";
import type { FileCopies } from "../undo/index.ts";
import type { Attendance, Begun } from "./request/attendance.ts";
import type { RunRequest } from "./request/request.ts";

export interface HostedGraph {
  /** The agent for one run. */
  prepare: (thread: string, request: RunRequest, attendance?: Attendance) => Promise<PreparedRun>;
  /** The model of a run, if it is known before the run. */
  modelName?: (thread: string, request: RunRequest) => Promise<string | undefined>;
  /** Copies of the files that a thread's turns change in a directory, if copies are kept. */
  copies?: (
    thread: string,
    dir: string | undefined,
    onFailure?: (error: Error) => void,
  ) => FileCopies | undefined;
  /** An agent that only reads threads. */
  reader: (thread?: string) => Promise<RunAgent>;
  /** Whether a thread is another program's: hosts may read it, but not change it. Default: no thread is. */
  isForeign?: (thread: string) => Promise<boolean>;
  /** Whether a client may write a channel of an agent's state. */
  isWritable: (channel: string, agent: RunAgent) => boolean;
  /** Prepares a held thread for a message, and returns the values that the harness adds to the input. */
  begin?: (begun: Begun, message: TurnMessage) => Promise<Record<string, unknown>>;
}

/** Throws `invalid-request` for a thread of another program. */
export async function checkThread({ isForeign }: HostedGraph, thread: string): Promise<void> {
  if (!(await isForeign?.(thread))) return;
  const message = `Thread ${JSON.stringify(thread)} was not started by Holdfast: only its program can continue it.`;
  throw new HarnessError("invalid-request", message);
}

export interface TurnMessage {
  /** The message as its author typed it. */
  task: string | undefined;
  isAnswer: boolean;
}

/** The values that a client may write, without a thread's settings and the harness's own channels. */
export function writable(
  values: Record<string, unknown>,
  { graph, agent }: { graph: HostedGraph; agent: RunAgent },
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([channel]) => channel !== COMMAND_MARK && graph.isWritable(channel, agent),
    ),
  );
}

/** The key by which LangGraph recognizes its commands, which may write any channel. */
const COMMAND_MARK = "lg_name";
