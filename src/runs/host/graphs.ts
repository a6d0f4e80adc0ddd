import type { StateSnapshot } from "@langchain/langgraph";
import type { RunAgent } from "../agent.ts";
import type { ReadyAgent } from "../ready.ts";
import type { RunRequest } from "./request.ts";

/** A graph that a host runs threads on. */
export interface HostedGraph {
  /** The agent for one run. */
  prepare: (thread: string, request: RunRequest) => Promise<ReadyAgent>;
  /** An agent to read threads with; nothing is run on it. */
  reader: (thread?: string) => Promise<RunAgent>;
  /** Which channels of its state a client may write. */
  isWritable: (channel: string) => boolean;
  /** Adds to the input of a run what only the harness may say. */
  complete?: (
    input: Record<string, unknown>,
    about: { state: StateSnapshot; ready: ReadyAgent; task: string | undefined },
  ) => Promise<Record<string, unknown>>;
}

/** What a client may write of what it sent: how a thread is run and what the harness remembers is not its to say. */
export function writable(values: Record<string, unknown>, graph: HostedGraph): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([channel]) => channel !== COMMAND_MARK && graph.isWritable(channel)),
  );
}

/** By this LangGraph knows its commands, which write what they like. */
const COMMAND_MARK = "lg_name";
