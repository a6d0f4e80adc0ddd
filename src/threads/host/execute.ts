import type { StateSnapshot } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import type { RunRecord, RunStatus } from "../../storage/index.ts";
import { ending, type RunEvent, OUTCOME_CODES } from "../events/index.ts";
import type { RunGraph, RunStreamOptions } from "../prepare/index.ts";
import { answerEvents } from "../questions/index.ts";
import { runThread, RunEvents, waitingOf } from "../run/index.ts";
import { Thread, type Hold } from "../thread/index.ts";
import type { Traces } from "../traces/index.ts";
import type { HostedGraph } from "./graphs.ts";
import type { Run } from "./hosted-run.ts";
import { beginning } from "./request/begin.ts";
import type { CheckpointPlace } from "./request/request.ts";
import type { FeedSinks, LangGraphFeed } from "./stream/langgraph-feed.ts";

/** The wait for a thread that is held for a moment while the user's plan edit is written. */
const EDIT_MS = 2000;

export interface Execution extends FeedSinks {
  graph: HostedGraph;
  emit: (event: RunEvent) => void;
  /** Saves the progress of the run. Returns false if another process has taken the run. */
  save: (change: Partial<RunRecord>) => Promise<boolean>;
  traces?: Traces;
  /** Whether the thread is taken over from a process that is known to be dead. */
  isTakenOver?: boolean;
  /** Whether to retry a run after this failure. If so, no end is published. */
  isTriedAgain?: (failure: unknown) => boolean | Promise<boolean>;
}

interface ExecutionResult {
  status: RunStatus;
  /** Whether it has not ended, and continues elsewhere or later. */
  isLeft: boolean;
  failure?: unknown;
}

/** Does a run from start to end, and publishes its events, chunks and result. Does not throw. */
export async function execute(run: Run, execution: Execution): Promise<ExecutionResult> {
  const { graph, emit, save, isTakenOver = false, isTriedAgain, traces } = execution;
  const { thread, request, signal, attendance } = run;
  const events = new RunEvents(thread, (event, view) => {
    emit(event);
    attendance?.show(event, view);
  });
  let feed: LangGraphFeed | undefined;
  let held: Hold | undefined;
  let owned: Thread | undefined;
  let status: RunStatus = "success";
  let failure: unknown;
  try {
    await save({ status: "running" });
    feed = await feedOf(run, execution);
    feed?.begin();
    const ready = await graph.prepare(thread, request, attendance);
    owned = new Thread(ready.agent, thread);
    held = await owned.acquire({ wait: EDIT_MS, force: isTakenOver });
    const state = await owned.state();
    run.head = headOf(state);
    const { base } = run.record;
    const isAgain = base !== undefined;
    // Only now, while holding the thread: from here on no other process can take the run.
    if (!(await save({ base: base ?? run.head ?? "" }))) {
      await run.edits.close();
      await held().catch(() => {});
      return { status: "pending", isLeft: true };
    }
    const start = await beginning(run.record, { graph, ready, thread: owned, state, isAgain });
    const notice = attendance ? await attendance.onBegin?.({ thread: owned, ready }) : ready.notice;
    if (attendance) signal.throwIfAborted();
    run.notify = (text) => events.emit({ type: "notice", text });
    const questions = Object.keys(start.answers).length > 0 ? await owned.questions(state) : [];
    for (const event of answerEvents(start.answers, questions)) events.emit(event);
    const end = await runThread(start.input, {
      thread: owned,
      held,
      model: ready.model,
      events,
      signal,
      // Questions end a run that no one attends: the answer starts another run.
      answer: async (question) => attendance?.answer(question),
      task: start.task,
      resumed: run.head !== undefined,
      dir: ready.dir,
      notice,
      edits: run.edits,
      prices: ready.prices,
      traces,
      copies: graph.copies?.(thread, ready.dir, ({ message }) =>
        run.notify(`No copies are kept for an undo of this turn: ${message}`),
      ),
      onEnd: async (last) => (await attendance?.onEnd?.(last, owned!)) ?? {},
      onError: (error) => {
        failure = error;
      },
      tap: {
        modes: [],
        callbacks: attendance?.callbacks ?? [],
        onChunk: () => {},
        ...feed?.tap,
        options: () => {
          const { checkpoint } = start;
          // Used once: after a plan edit the run continues from the newest checkpoint.
          delete start.checkpoint;
          return optionsOf(run, ready.agent.graph, checkpoint);
        },
      },
    });
    const isStopped = end.outcome === "interrupted";
    status = isStopped ? "interrupted" : end.outcome === "failed" ? "error" : "success";
    if (feed) {
      const finalState = await owned.state();
      const interrupts = waitingOf(finalState);
      const error = { name: "RunError", message: end.error ?? "The run failed." };
      const { values } = finalState as { values: Record<string, unknown> };
      run.result = { values, interrupts, ...(end.outcome === "failed" && { error }) };
      feed.ask(interrupts);
    }
  } catch (error) {
    // It did not reach its first step: another process holds the thread, or its agent cannot be built.
    await run.edits.close();
    const { name, message } = HarnessError.from(error) ?? (error as Error);
    const isStopped = signal.aborted;
    failure = isStopped ? undefined : error;
    status = isStopped ? "interrupted" : "error";
    run.result = { values: {}, interrupts: [], ...(!isStopped && { error: { name, message } }) };
    const outcome = isStopped ? "interrupted" : "failed";
    const end = { ...ending(undefined, outcome), ...(!isStopped && { error: message }) };
    if (attendance) run.failure = failure;
    else events.emit({ type: "run-end", ...end, exitCode: OUTCOME_CODES[outcome], usage: events.view.usage });
  }
  const isRetried = failure !== undefined && (await isTriedAgain?.(failure)) === true;
  const isDrained = status === "interrupted" && run.edits.isLeaving && !signal.aborted;
  const isLeft = isDrained || isRetried;
  // No await since `isLeft` was decided: a request that comes later sees that the run is over.
  run.settle(status);
  if (!isLeft) feed?.end();
  if (run.isRolledBack && owned) await rollBack(owned, run).catch(() => {});
  // A lease that cannot be released, for example on a full disk, ends with this process.
  await held?.().catch(() => {});
  return { status, isLeft, failure };
}

/** LangGraph's protocols of a run. An attended run has none: its person reads the events alone. */
async function feedOf(run: Run, sinks: FeedSinks): Promise<LangGraphFeed | undefined> {
  if (run.attendance) return undefined;
  const { LangGraphFeed: Feed } = await import("./stream/langgraph-feed.ts");
  return new Feed(run, sinks);
}

/** Returns a thread to the checkpoint before the run's first attempt. */
async function rollBack({ agent: { graph }, id: thread }: Thread, { record: { base } }: Run): Promise<void> {
  if (base === undefined) return;
  const config = { configurable: { thread_id: thread, checkpoint_id: base } };
  if (base !== "") await graph.updateState(config, null, "__copy__");
  else if (typeof graph.checkpointer === "object") await graph.checkpointer.deleteThread(thread);
}

function optionsOf(
  { id, request }: Run,
  graph: RunGraph,
  checkpoint: CheckpointPlace | undefined,
): Partial<RunStreamOptions> {
  const { configurable, context, metadata, recursionLimit = 0, interruptBefore, interruptAfter } = request;
  // A lower limit than the graph's own is ignored: user interfaces send one by default, and it would cut a plan short.
  const { recursionLimit: lowestLimit = 0 } = graph.config ?? {};
  return {
    version: "v2",
    configurable: { ...configurable, ...checkpoint },
    metadata: { ...metadata, run_id: id },
    ...(context && { context }),
    ...(recursionLimit > lowestLimit && { recursionLimit }),
    ...(interruptBefore && { interruptBefore }),
    ...(interruptAfter && { interruptAfter }),
  };
}

function headOf({ config, values }: StateSnapshot): string | undefined {
  const id: unknown = values === undefined ? undefined : config.configurable?.["checkpoint_id"];
  return typeof id === "string" ? id : undefined;
}
