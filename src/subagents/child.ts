import type { AIMessage } from "@langchain/core/messages";
import { GraphInterrupt, isGraphInterrupt, type Interrupt } from "@langchain/langgraph";
import { unlessAborted } from "../errors.ts";
import { joinedInterrupts, OWN_SIGNAL, streamOf, withStream } from "../langgraph/index.ts";
import { CONFIG, METADATA } from "../marks.ts";
import { type Budget, STEP_LIMIT } from "../middleware/budget/index.ts";
import { readContext } from "../middleware/context-memory/index.ts";
import { StepControl } from "../middleware/state/index.ts";
import type { ToolRuntime } from "../middleware/tools/index.ts";
import type { Tally } from "../plan/todo/index.ts";
import { register, takeUnread } from "./background/working.ts";
import { ChildStream } from "./child-stream.ts";
import { conversationAt, type StartState } from "./exchange.ts";
import { readReport, type End, type Report } from "./report.ts";
import type { CompiledSubagent } from "./spec.ts";

/** The context of a sub-agent's run. */
export interface ChildContext {
  /** The runtime of the caller's tool. */
  runtime: ToolRuntime;
  owner: string;
  /** The sub-agent's id for its caller. */
  id?: string;
  /** The plan item that it works on, if any. */
  todo?: string;
  budget: Budget | undefined;
  /** Receives the sub-agent's spending while it runs. */
  usage: { spent?: Tally };
}

/** Runs a sub-agent. When its time is up or the user cancels it, its report has what it found so far. */
export async function runChild(
  subagent: CompiledSubagent,
  start: StartState,
  context: ChildContext,
): Promise<Report> {
  const { runtime, usage, owner, id } = context;
  const { runnable, timeLimit } = subagent;
  const stop = new AbortController();
  const working = { owner, id, notes: [], cancel: () => stop.abort("the user cancelled it") };
  const unregister = register(runtime, working);
  const config = { ...runtime.config, ...childConfig(subagent, context) };
  const stream = new ChildStream(streamOf(runtime.configurable));
  const reason = `its time limit of ${((timeLimit ?? 0) / 1000).toLocaleString("en")} s was reached`;
  const timer = timeLimit === undefined ? undefined : setTimeout(() => stop.abort(reason), timeLimit);
  const signal = AbortSignal.any([stop.signal, ...(runtime.signal ? [runtime.signal] : [])]);
  const configurable = { ...config.configurable, ...withStream(stream), [CONFIG.notes]: working.notes };
  const reportOf = (state: object, end: End): Report => {
    const report = readReport(state, start, end);
    return { ...report, text: [report.text, takeUnread(working)].filter(Boolean).join("\n\n") };
  };
  try {
    const run = runnable.invoke(start as never, { ...config, configurable, signal } as never);
    // Not everything a sub-agent calls listens to its signal. Without a time limit, a run that ends waits for it.
    return reportOf(await unlessAborted(run, timeLimit === undefined ? stop.signal : signal), usage);
  } catch (error) {
    if (!stop.signal.aborted || runtime.signal?.aborted) {
      const namespace = String(runtime.configurable?.["checkpoint_ns"]);
      // A sub-agent that fails at once after a resume has not reported what it spent before.
      const state = stream.latest ?? { messages: await conversationAt(namespace, runtime) };
      usage.spent ??= readReport(state, start).spent;
      throw isGraphInterrupt(error) ? inOrder(error, state) : error;
    }
    return reportOf(stream.latest ?? {}, { ...usage, stopped: String(stop.signal.reason) });
  } finally {
    clearTimeout(timer);
    unregister?.();
  }
}

/** Sorts the questions of a sub-agent by the order of their calls: LangGraph has them in the order of arrival. */
function inOrder(
  { interrupts }: GraphInterrupt,
  { messages = [] }: { messages?: AIMessage[] },
): GraphInterrupt {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const placeOf = ({ value }: Interrupt): number => calls.lastIndexOf((value as { call?: string })?.call);
  return new GraphInterrupt(joinedInterrupts(interrupts.toSorted((a, b) => placeOf(a) - placeOf(b))));
}

/**
 * The config of a sub-agent's run: owner and plan item, also in the metadata for callbacks and traces; its account; a
 * full step limit, whatever its parent has left; control and abort signal of its own.
 */
function childConfig(
  { name, fork = false, budget: limits }: CompiledSubagent,
  { runtime, owner, todo, budget, usage }: ChildContext,
) {
  const { configurable, config, signal } = runtime;
  // With the parent's checkpoint id LangGraph would treat the run as a replay and repeat finished calls.
  const { checkpoint_id: _, ...rest } = configurable ?? {};
  return {
    configurable: {
      ...rest,
      ...(budget && { [CONFIG.budget]: budget.accountFor(runtime, { item: todo, limits }) }),
      [CONFIG.owner]: owner,
      [CONFIG.spent]: usage,
      // A fork's requests begin like its caller's.
      [CONFIG.context]: fork ? readContext(runtime.state, configurable) : undefined,
      ...OWN_SIGNAL,
    },
    // The caller's metadata has the caller's name.
    metadata: { ...config?.metadata, lc_agent_name: name, [CONFIG.owner]: owner, [METADATA.todo]: todo },
    recursionLimit: STEP_LIMIT,
    ...StepControl.forChild(config?.control),
    ...(signal && { signal: AbortSignal.any([signal]) }),
  };
}
