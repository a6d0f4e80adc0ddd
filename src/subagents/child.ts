import type { AIMessage } from "@langchain/core/messages";
import { GraphInterrupt, isGraphInterrupt, type Interrupt } from "@langchain/langgraph";
import { unlessAborted } from "../errors.ts";
import { joinedInterrupts, OWN_SIGNAL, streamOf, withStream } from "../langgraph/index.ts";
import { BUDGET_KEY, type Budget, STEP_LIMIT } from "../middleware/budget/index.ts";
import { CONTEXT_KEY, readContext } from "../middleware/context-memory/index.ts";
import { OWNER_KEY, SPENT_KEY, TODO_KEY } from "../middleware/plan/index.ts";
import { StepControl } from "../middleware/state/index.ts";
import type { ToolRuntime } from "../middleware/tools/index.ts";
import type { Tally } from "../plan/todo/index.ts";
import { enter, NOTES_KEY, unread } from "./background/working.ts";
import { ChildStream } from "./child-stream.ts";
import { conversationAt, type Given } from "./exchange.ts";
import { readReport, type End, type Report } from "./report.ts";
import type { CompiledSubagent } from "./spec.ts";

/** The owner of a run, and the run that it takes place in. */
export interface ChildPlace {
  runtime: ToolRuntime;
  owner: string;
  /** The id by which its caller knows it. */
  id?: string | undefined;
  /** The item that it works on, where it was given one. */
  todo?: string | undefined;
  budget: Budget | undefined;
  /** Where it tells what it has spent. */
  told: { spent?: Tally };
}

/** Runs a sub-agent. What it has found when its time is up, or somebody cancels it, is its report. */
export async function runChild(subagent: CompiledSubagent, given: Given, place: ChildPlace): Promise<Report> {
  const { runtime, told, owner, id } = place;
  const { runnable, timeLimit } = subagent;
  const stop = new AbortController();
  const working = { owner, id, notes: [], cancel: () => stop.abort("the user cancelled it") };
  const leave = enter(runtime, working);
  const config = { ...runtime.config, ...childConfig(subagent, place) };
  const stream = new ChildStream(streamOf(runtime.configurable));
  const isLate = `its time limit of ${((timeLimit ?? 0) / 1000).toLocaleString("en")} s was reached`;
  const timer = timeLimit === undefined ? undefined : setTimeout(() => stop.abort(isLate), timeLimit);
  const signal = AbortSignal.any([stop.signal, ...(runtime.signal ? [runtime.signal] : [])]);
  const configurable = { ...config.configurable, ...withStream(stream), [NOTES_KEY]: working.notes };
  const reported = (state: object, end: End): Report => {
    const report = readReport(state, given, end);
    return { ...report, text: [report.text, unread(working)].filter(Boolean).join("\n\n") };
  };
  try {
    const run = runnable.invoke(given as never, { ...config, configurable, signal } as never);
    // Not everything that a sub-agent calls listens to its signal; a run that ends waits for what does.
    return reported(await unlessAborted(run, timeLimit === undefined ? stop.signal : signal), told);
  } catch (error) {
    if (!stop.signal.aborted || runtime.signal?.aborted) {
      const namespace = String(runtime.configurable?.["checkpoint_ns"]);
      // One that fails as soon as it is taken up again has told nothing of what it spent before.
      const state = stream.latest ?? { messages: await conversationAt(namespace, runtime) };
      told.spent ??= readReport(state, given).spent;
      throw isGraphInterrupt(error) ? inOrder(error, state) : error;
    }
    return reported(stream.latest ?? {}, { ...told, stopped: String(stop.signal.reason) });
  } finally {
    clearTimeout(timer);
    leave?.();
  }
}

/** The questions of a sub-agent in the order of the calls that ask: LangGraph has them as they came. */
function inOrder(
  { interrupts }: GraphInterrupt,
  { messages = [] }: { messages?: AIMessage[] },
): GraphInterrupt {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const placeOf = ({ value }: Interrupt): number => calls.lastIndexOf((value as { call?: string })?.call);
  return new GraphInterrupt(joinedInterrupts(interrupts.toSorted((a, b) => placeOf(a) - placeOf(b))));
}

/**
 * The run of a child: its owner's name, also in the metadata that callbacks and traces see, with its item; what it
 * spends from, as many steps as its parent had, whatever that has left, what may stop it half way, and a signal of its own.
 */
function childConfig(
  { fork = false, budget: limits }: CompiledSubagent,
  { runtime, owner, todo, budget, told }: ChildPlace,
) {
  const { configurable, config, signal } = runtime;
  // With the parent's checkpoint id LangGraph takes the run for a replay and repeats calls that have finished.
  const { checkpoint_id: _, ...rest } = configurable ?? {};
  return {
    configurable: {
      ...rest,
      ...(budget && { [BUDGET_KEY]: budget.accountFor(runtime, { item: todo, limits }) }),
      [OWNER_KEY]: owner,
      [SPENT_KEY]: told,
      // A fork's requests begin as its caller's do.
      [CONTEXT_KEY]: fork ? readContext(runtime.state, configurable) : undefined,
      ...OWN_SIGNAL,
    },
    metadata: { ...config?.metadata, [OWNER_KEY]: owner, [TODO_KEY]: todo },
    recursionLimit: STEP_LIMIT,
    ...StepControl.forChild(config?.control),
    ...(signal && { signal: AbortSignal.any([signal]) }),
  };
}
