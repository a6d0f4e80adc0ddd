import { setTimeout as sleep } from "node:timers/promises";
import { isGraphInterrupt, type Interrupt } from "@langchain/langgraph";
import { detachedConfigurable, runSignalOf, streamOf, checkpointerOf } from "../../langgraph/index.ts";
import { CONFIG } from "../../marks.ts";
import { type Budget } from "../../middleware/budget/index.ts";
import type { ToolRuntime } from "../../middleware/tools/index.ts";
import { runAssignment, type Assignment, type Outcome } from "../assignment.ts";
import { ChildStream } from "../child-stream.ts";
import type { StartState } from "../exchange.ts";
import { readReport, type Report } from "../report.ts";

/** The state of a job that is not at work: it ended, it asks the user, or it was stopped and can continue. */
export type Settled = Outcome | { asks: Interrupt[] } | { stopped: unknown };

/** How long to wait for a stopped job to end. LangGraph stops at once; another runnable may ignore the signal. */
const PATIENCE_MS = 2000;

/** Options of a job. */
export interface JobOptions {
  runtime: ToolRuntime;
  budget: Budget | undefined;
  /** The namespace of its checkpoints. */
  ns: string;
  /** Whether it continues from its checkpoints, if it has any. */
  isResumed: boolean;
  /** Whether an answer without an interrupt's id may be for it. */
  mayTakeAnswer: boolean;
  now: () => number;
  /** Runs the job when fewer than the most sub-agents are at work. */
  turn: <T>(run: () => Promise<T>) => Promise<T>;
}

/** A sub-agent that works while its caller continues. */
export class BackgroundJob {
  assignment: Assignment;
  readonly startedAt: number;
  /** The milliseconds that it worked in this process; 0 until it settles. */
  elapsedMs = 0;
  settled: Settled | undefined;
  /** The writer of the invocation that it was started in. */
  readonly startedIn: unknown;
  /** The writer of the invocation in which its report was collected. */
  claimedIn: unknown;
  /** Resolves when it settles; never rejects. */
  readonly end: Promise<void>;
  readonly #abort = new AbortController();
  readonly #stream: ChildStream;
  #writer: ToolRuntime["writer"];
  /** Events from after the end of its caller's invocation, for the next one. */
  #pending: unknown[] = [];

  constructor(assignment: Assignment, options: JobOptions) {
    this.assignment = assignment;
    this.startedAt = options.now();
    this.startedIn = options.runtime.writer;
    this.#stream = new ChildStream(streamOf(options.runtime.configurable));
    this.#follow(options.runtime);
    this.end = this.#work(options);
  }

  /** Switches to its caller's next invocation, which continues the thread. */
  switchTo(runtime: ToolRuntime): void {
    if (runtime.writer === this.#writer) return;
    this.#stream.switchTo(streamOf(runtime.configurable));
    this.#follow(runtime);
    for (const chunk of this.#pending.splice(0)) this.#emit(chunk);
  }

  /** Stops it, and resolves when it has stopped or after a timeout. Its checkpoints stay. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.race([this.end, sleep(PATIENCE_MS, undefined, { ref: false })]);
  }

  /** The job's report so far. `reason`: why it is not complete. */
  soFar(reason = "it is still working"): Report {
    return readReport(this.#stream.latest ?? {}, this.assignment.start, { stopped: reason });
  }

  #follow({ writer, signal, configurable }: ToolRuntime): void {
    this.#writer = writer;
    const runSignal = runSignalOf(configurable) ?? signal;
    if (!runSignal) return;
    // A derived signal: Node warns of a leak at more than ten listeners on one signal.
    const derived = AbortSignal.any([runSignal]);
    if (derived.aborted) this.#abort.abort();
    derived.addEventListener("abort", () => this.#abort.abort(), { once: true });
  }

  #emit(chunk: unknown): void {
    if (this.#stream.closed) this.#pending.push(chunk);
    else this.#writer?.(chunk);
  }

  async #work(options: JobOptions): Promise<void> {
    this.settled = await options.turn(() => this.#run(options));
    this.elapsedMs = options.now() - this.startedAt;
  }

  async #run({ runtime, budget, ns, isResumed, mayTakeAnswer }: JobOptions): Promise<Settled> {
    const { configurable = {} } = runtime;
    const { signal } = this.#abort;
    if (signal.aborted) return { stopped: signal.reason };
    const { todo_id: item } = this.assignment.job;
    const { budget: limits } = this.assignment.subagent;
    const own = {
      ...detachedConfigurable(configurable, { ns, stream: this.#stream, isResumed, mayTakeAnswer }),
      [CONFIG.budget]: budget?.accountFor(runtime, { item, limits }) ?? configurable[CONFIG.budget],
    };
    const writer = (chunk: unknown): void => this.#emit(chunk);
    const config = { ...runtime.config, writer };
    try {
      if (isResumed) {
        const start = await savedStart(this.assignment, runtime, ns);
        this.assignment = { ...this.assignment, start };
      }
      const jobRuntime = { ...runtime, configurable: own, writer, signal, config };
      return await runAssignment(this.assignment, { runtime: jobRuntime, budget: undefined });
    } catch (error) {
      return isGraphInterrupt(error) ? { asks: error.interrupts } : { stopped: error };
    }
  }
}

/** The initial state of a resumed job, from its oldest checkpoint, for the changes since. */
async function savedStart(
  { start, job }: Pick<Assignment, "start" | "job">,
  { configurable = {} }: ToolRuntime,
  ns: string,
): Promise<StartState> {
  const saver = checkpointerOf(configurable);
  if (!saver) return start;
  const isAskedAgain = job.again !== undefined;
  const place = { configurable: { thread_id: configurable["thread_id"], checkpoint_ns: ns } };
  let oldest: Partial<StartState> = {};
  for await (const { checkpoint } of saver.list(place)) {
    if ("messages" in checkpoint.channel_values) oldest = checkpoint.channel_values;
  }
  const fields = Object.keys(start).flatMap((field) =>
    oldest[field] === undefined || (field === "messages" && !isAskedAgain)
      ? []
      : [[field, oldest[field]] as const],
  );
  return { ...start, ...Object.fromEntries(fields) };
}
