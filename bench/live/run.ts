import { setMaxListeners } from "node:events";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { failureOf, type FailureKind } from "../../src/models/failure/failure.ts";
import type { Usage } from "../../src/threads/events/events.ts";
import { Meter } from "./meter.ts";
import { agentOf, type LiveSystem } from "./systems.ts";
import type { Assignment } from "./tasks/task.ts";
import { LiveWorkspace, type SandboxOptions } from "./workspace.ts";

/**
 * How a run ended. `infrastructure`: a model call failed for good, which is nobody's failure. `interrupted`: the
 * benchmark was stopped. Both do not count, and are made again.
 */
export type Ending = "answered" | "out-of-calls" | "crashed" | "infrastructure" | "interrupted";

/** What one run came to. */
export interface RunFigures extends Usage {
  end: Ending;
  solved: boolean;
  /** What was wrong with the outcome, the first few. */
  problems: string[];
  modelCalls: number;
  turns: number;
  toolCalls: number;
  seconds: number;
  error?: string;
}

export interface RunOptions {
  system: LiveSystem;
  assignment: Assignment;
  model: BaseChatModel;
  sandbox: SandboxOptions;
  signal: AbortSignal;
  /** Told what each model call spent; undefined where the server does not say. */
  onUsage: (usage: Usage | undefined) => void;
}

/** Runs one task under one system, in a folder of its own, and looks at what is in the folder then. */
export async function runTask(options: RunOptions): Promise<{ figures: RunFigures; failure: unknown }> {
  const { system, assignment, model, sandbox, onUsage } = options;
  const { signal, release } = ownSignal(options.signal);
  const start = performance.now();
  const workspace = await LiveWorkspace.create(assignment.files, sandbox);
  const meter = new Meter(onUsage);
  let messages: readonly BaseMessage[] = [];
  let thrown: unknown;
  try {
    const agent = agentOf(system, { model, backend: workspace.backend, meter });
    const input = { messages: [new HumanMessage(assignment.prompt)] };
    const config = { streamMode: "values", recursionLimit: 10_000, signal };
    try {
      for await (const state of await agent.stream(input, config)) {
        messages = (state as { messages: BaseMessage[] }).messages;
      }
    } catch (error) {
      thrown = error;
    }
    let end = endingOf(thrown, meter, signal);
    let failure = end === "infrastructure" ? meter.failure?.error : undefined;
    let problems: string[] = [];
    if (end !== "infrastructure" && end !== "interrupted") {
      try {
        problems = await assignment.check(await workspace.outcome());
      } catch (error) {
        // The sandbox did not start, or the disk is full: nothing that the model did.
        end = "infrastructure";
        failure = error;
      }
    }
    const figures: RunFigures = {
      end,
      solved: end !== "infrastructure" && end !== "interrupted" && problems.length === 0,
      problems: problems.slice(0, 3).map((problem) => problem.slice(0, 300)),
      ...meter.usage,
      modelCalls: meter.modelCalls,
      turns: messages.filter((message) => AIMessage.isInstance(message)).length,
      toolCalls: messages.filter((message) => ToolMessage.isInstance(message)).length,
      seconds: Math.round((performance.now() - start) / 100) / 10,
      ...(end !== "answered" &&
        end !== "interrupted" && { error: lineOf(failure ?? meter.failure?.error ?? thrown) }),
    };
    return { figures, failure };
  } finally {
    release();
    await workspace.remove();
  }
}

/** A request that the provider refuses in the middle of a run is the doing of whoever put it together. */
const OWN_FAULTS: readonly FailureKind[] = ["too-long", "rejected"];

function endingOf(thrown: unknown, meter: Meter, signal: AbortSignal): Ending {
  if (signal.aborted) return "interrupted";
  if (thrown === undefined) return "answered";
  if (meter.isUsedUp) return "out-of-calls";
  if (!meter.failure) return "crashed";
  const { error, call } = meter.failure;
  return call > 1 && OWN_FAULTS.includes(failureOf(error).kind) ? "crashed" : "infrastructure";
}

/** A signal for one run: LangGraph leaves listeners on the one it is given. */
function ownSignal(parent: AbortSignal): { signal: AbortSignal; release: () => void } {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const abort = (): void => own.abort();
  if (parent.aborted) abort();
  parent.addEventListener("abort", abort);
  return { signal: own.signal, release: () => parent.removeEventListener("abort", abort) };
}

function lineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0]!.slice(0, 300);
}
