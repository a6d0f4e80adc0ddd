import type { StateSnapshot } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import type { RunRecord, RunStatus } from "../../storage/index.ts";
import { ending, type RunEvent, OUTCOME_CODES } from "../events/index.ts";
import type { RunStreamOptions } from "../prepare/index.ts";
import { answerEvents } from "../questions/index.ts";
import { runThread, RunEvents, waitingOf } from "../run/index.ts";
import { Thread, type Hold } from "../thread/index.ts";
import type { Traces } from "../traces/index.ts";
import type { HostedGraph } from "./graphs.ts";
import type { Run } from "./hosted-run.ts";
import { beginning } from "./request/begin.ts";
import type { CheckpointPlace } from "./request/request.ts";
import type { FeedSinks, LangGraphFeed } from "./stream/langgraph-feed.ts";

/** A lower limit than this, as user interfaces send it without being asked, would cut a plan short. */
const LOWEST_LIMIT = 10_000;

/** A thread may be held for a moment, while a person's edit of its plan is written. */
const EDIT_MS = 2000;

export interface Execution extends FeedSinks {
  graph: HostedGraph;
  emit: (event: RunEvent) => void;
  /** Writes down how far the run is. Returns whether it is still to be run here, and was not taken by somebody else. */
  save: (change: Partial<RunRecord>) => Promise<boolean>;
  traces?: Traces | undefined;
  /** Whether the thread is taken from a process that is known to be dead. */
  isTakenOver?: boolean;
  /** Whether a run that failed so is to be begun again: then nobody is told that it has ended. */
  isTriedAgain?: (failure: unknown) => boolean | Promise<boolean>;
}

/** The result of a run; `isLeft` if it has not ended, and continues elsewhere or later. */
export interface Executed {
  status: RunStatus;
  isLeft: boolean;
  failure?: unknown;
}

/** Runs a run from its start to its end, says how it ended, and feeds everything that follows it. Does not throw. */
export async function execute(run: Run, execution: Execution): Promise<Executed> {
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
    // With the thread in hand: who has the run now has it alone.
    if (!(await save({ base: base ?? run.head ?? "" }))) {
      await run.edits.close();
      await held().catch(() => {});
      return { status: "pending", isLeft: true };
    }
    const begun = await beginning(run.record, { graph, ready, thread: owned, state, isAgain });
    const notice = attendance ? await attendance.onBegin?.({ thread: owned, ready }) : ready.notice;
    if (attendance) signal.throwIfAborted();
    run.notify = (text) => events.emit({ type: "notice", text });
    const asked = Object.keys(begun.answers).length > 0 ? await owned.questions(state) : [];
    for (const event of answerEvents(begun.answers, asked)) events.emit(event);
    const end = await runThread(begun.input, {
      thread: owned,
      held,
      model: ready.model,
      events,
      signal,
      // Questions end a run that nobody attends: whoever answers begins another.
      answer: async (question) => attendance?.answer(question),
      task: begun.task,
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
          const { checkpoint } = begun;
          // It is left once: what goes on after an edit goes on from there.
          delete begun.checkpoint;
          return optionsOf(run, checkpoint);
        },
      },
    });
    const isStopped = end.outcome === "interrupted";
    status = isStopped ? "interrupted" : end.outcome === "failed" ? "error" : "success";
    if (feed) {
      const after = await owned.state();
      const interrupts = waitingOf(after);
      const error = { name: "RunError", message: end.error ?? "The run failed." };
      const { values } = after as { values: Record<string, unknown> };
      run.result = { values, interrupts, ...(end.outcome === "failed" && { error }) };
      feed.ask(interrupts);
    }
  } catch (error) {
    // It did not get as far as its first step: another process has the thread, or no agent can be built for it.
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
  const isTried = failure !== undefined && (await isTriedAgain?.(failure)) === true;
  const isDrained = status === "interrupted" && run.edits.isLeaving && !signal.aborted;
  const isLeft = isDrained || isTried;
  // In the same moment as the look at what is wanted: who comes later is told that it is over.
  run.settle(status);
  if (!isLeft) feed?.end();
  if (run.isRolledBack && owned) await rollBack(owned, run).catch(() => {});
  // A lease that cannot be given back, as on a full disk, ends with this process.
  await held?.().catch(() => {});
  return { status, isLeft, failure };
}

/** Whoever attends reads events alone, and waits for nothing that other readers need. */
async function feedOf(run: Run, sinks: FeedSinks): Promise<LangGraphFeed | undefined> {
  if (run.attendance) return undefined;
  const { LangGraphFeed: Feed } = await import("./stream/langgraph-feed.ts");
  return new Feed(run, sinks);
}

/** Puts a thread back to where it was before a run was first begun, in this process or in one that was killed. */
async function rollBack({ agent: { graph }, id: thread }: Thread, { record: { base } }: Run): Promise<void> {
  if (base === undefined) return;
  const config = { configurable: { thread_id: thread, checkpoint_id: base } };
  if (base !== "") await graph.updateState(config, null, "__copy__");
  else if (typeof graph.checkpointer === "object") await graph.checkpointer.deleteThread(thread);
}

function optionsOf({ id, request }: Run, checkpoint: CheckpointPlace | undefined): Partial<RunStreamOptions> {
  const { configurable, context, metadata, recursionLimit, interruptBefore, interruptAfter } = request;
  return {
    // What LangChain streams by itself.
    version: "v2",
    configurable: { ...configurable, ...checkpoint },
    metadata: { ...metadata, run_id: id },
    ...(context && { context }),
    ...(recursionLimit !== undefined && recursionLimit > LOWEST_LIMIT && { recursionLimit }),
    ...(interruptBefore && { interruptBefore }),
    ...(interruptAfter && { interruptAfter }),
  };
}

function headOf({ config, values }: StateSnapshot): string | undefined {
  const id: unknown = values === undefined ? undefined : config.configurable?.["checkpoint_id"];
  return typeof id === "string" ? id : undefined;
}
