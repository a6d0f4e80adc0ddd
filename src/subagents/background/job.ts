import { setTimeout as sleep } from "node:timers/promises";
import { isGraphInterrupt, type Interrupt } from "@langchain/langgraph";
import { detachedConfigurable, runSignalOf, streamOf, checkpointerOf } from "../../langgraph/index.ts";
import { BUDGET_KEY, type Budget } from "../../middleware/budget/index.ts";
import type { ToolRuntime } from "../../middleware/tools/index.ts";
import { carryOut, type Assignment, type Outcome } from "../assignment.ts";
import { ChildStream } from "../child-stream.ts";
import type { Given } from "../exchange.ts";
import { readReport, type Report } from "../report.ts";

/** The state of a job that is not at work: it ended, it asks a person, or it was stopped and can go on. */
export type Settled = Outcome | { asks: Interrupt[] } | { stopped: unknown };

/** The time for a stopped job to end. LangGraph takes none; a runnable of another kind may not listen at all. */
const PATIENCE_MS = 2000;

/** Options of a job. */
export interface Terms {
  runtime: ToolRuntime;
  budget: Budget | undefined;
  /** The namespace of its checkpoints. */
  ns: string;
  /** Where it has checkpoints it goes on from them. */
  isResumed: boolean;
  /** An answer that was given without an interrupt's id may be for it. */
  mayTakeAnswer: boolean;
  now: () => number;
  /** Waits for its turn. */
  turn: <T>(run: () => Promise<T>) => Promise<T>;
}

/** A sub-agent at work while its caller goes on. */
export class BackgroundJob {
  assignment: Assignment;
  readonly startedAt: number;
  /** For how many milliseconds it worked in this process. */
  elapsedMs = 0;
  settled: Settled | undefined;
  /** The invocation that it was started in, by its writer. */
  readonly startedIn: unknown;
  /** The invocation in which somebody is handing on its report. */
  claimedIn: unknown;
  /** Resolves when it is not at work any more; never rejects. */
  readonly end: Promise<void>;
  readonly #abort = new AbortController();
  readonly #stream: ChildStream;
  #writer: ToolRuntime["writer"];
  /** Events after its caller's invocation had ended, for the one that goes on. */
  #untold: unknown[] = [];

  constructor(assignment: Assignment, terms: Terms) {
    this.assignment = assignment;
    this.startedAt = terms.now();
    this.startedIn = terms.runtime.writer;
    this.#stream = new ChildStream(streamOf(terms.runtime.configurable));
    this.#follow(terms.runtime);
    this.end = this.#work(terms);
  }

  /** Its caller is in another invocation now, which goes on where the last one stopped. */
  turnTo(runtime: ToolRuntime): void {
    if (runtime.writer === this.#writer) return;
    this.#stream.turnTo(streamOf(runtime.configurable));
    this.#follow(runtime);
    for (const chunk of this.#untold.splice(0)) this.#tell(chunk);
  }

  /** Stops it, and resolves when it has stopped, or does not listen. What it has finished is kept. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.race([this.end, sleep(PATIENCE_MS, undefined, { ref: false })]);
  }

  /** The job's report so far. `reason`: why it goes no further. */
  soFar(reason = "it is still at work"): Report {
    return readReport(this.#stream.latest ?? {}, this.assignment.given, { stopped: reason });
  }

  #follow({ writer, signal, configurable }: ToolRuntime): void {
    this.#writer = writer;
    const ofRun = runSignalOf(configurable) ?? signal;
    if (!ofRun) return;
    // Not on the signal itself: Node takes more than ten listeners for a leak.
    const stopped = AbortSignal.any([ofRun]);
    if (stopped.aborted) this.#abort.abort();
    stopped.addEventListener("abort", () => this.#abort.abort(), { once: true });
  }

  #tell(chunk: unknown): void {
    if (this.#stream.closed) this.#untold.push(chunk);
    else this.#writer?.(chunk);
  }

  async #work(terms: Terms): Promise<void> {
    this.settled = await terms.turn(() => this.#run(terms));
    this.elapsedMs = terms.now() - this.startedAt;
  }

  async #run({ runtime, budget, ns, isResumed, mayTakeAnswer }: Terms): Promise<Settled> {
    const { configurable = {} } = runtime;
    const { signal } = this.#abort;
    if (signal.aborted) return { stopped: signal.reason };
    const { todo_id: item } = this.assignment.job;
    const { budget: limits } = this.assignment.subagent;
    const own = {
      ...detachedConfigurable(configurable, { ns, stream: this.#stream, isResumed, mayTakeAnswer }),
      [BUDGET_KEY]: budget?.accountFor(runtime, { item, limits }) ?? configurable[BUDGET_KEY],
    };
    const writer = (chunk: unknown): void => this.#tell(chunk);
    const config = { ...runtime.config, writer };
    try {
      if (isResumed) {
        const given = await startedWith(this.assignment, runtime, ns);
        this.assignment = { ...this.assignment, given };
      }
      const within = { ...runtime, configurable: own, writer, signal, config };
      return await carryOut(this.assignment, { runtime: within, budget: undefined });
    } catch (error) {
      return isGraphInterrupt(error) ? { asks: error.interrupts } : { stopped: error };
    }
  }
}

/** The state that a job first started with, from its oldest checkpoint. Its changes are told from there. */
async function startedWith(
  { given, job }: Pick<Assignment, "given" | "job">,
  { configurable = {} }: ToolRuntime,
  ns: string,
): Promise<Given> {
  const saver = checkpointerOf(configurable);
  if (!saver) return given;
  const isAskedAgain = job.again !== undefined;
  const place = { configurable: { thread_id: configurable["thread_id"], checkpoint_ns: ns } };
  let oldest: Partial<Given> = {};
  for await (const { checkpoint } of saver.list(place)) {
    if ("messages" in checkpoint.channel_values) oldest = checkpoint.channel_values;
  }
  const fields = Object.keys(given).flatMap((field) =>
    oldest[field] === undefined || (field === "messages" && !isAskedAgain)
      ? []
      : [[field, oldest[field]] as const],
  );
  return { ...given, ...Object.fromEntries(fields) };
}
