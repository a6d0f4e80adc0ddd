import { GraphInterrupt } from "@langchain/langgraph";
import { joinedInterrupts, isResuming } from "../../langgraph/index.ts";
import { FollowedTodo } from "../../middleware/plan/index.ts";
import type { ToolRuntime } from "../../middleware/tools/index.ts";
import {
  conclude,
  ownerFor,
  emitEnd,
  type Assignment,
  type Conclusion,
  type Outcome,
} from "../assignment.ts";
import { labelOf } from "../events.ts";
import { startStateFor, stateUpdate } from "../exchange.ts";
import type { SubagentsOptions } from "../spec.ts";
import { BACKGROUND_TEXTS } from "./background.prompt.ts";
import { BackgroundJob, type JobOptions } from "./job.ts";
import { jobsOf } from "./registry.ts";
import { readBackground, type Entry } from "./state.ts";

/** A job that has ended, with its result for the caller. */
export interface EndedJob extends Conclusion {
  id: string;
  name: string;
}

/** The sub-agents of an agent that work in the background. */
export class Crew {
  /** The fields of the state that are used. The agent need not have all of them. */
  readonly fields: readonly string[];
  readonly #options: SubagentsOptions;
  readonly #turn: JobOptions["turn"];

  constructor(options: SubagentsOptions, turn: JobOptions["turn"]) {
    this.#options = options;
    const shared = options.subagents.flatMap(({ stateFields = [] }) => stateFields);
    this.fields = ["messages", "files", "todos", "_plan", "_background", ...shared];
    this.#turn = turn;
  }

  /** Starts a job, or continues it from its checkpoints. */
  begin(assignment: Assignment, options: BeginOptions) {
    const { budget, plan } = this.#options;
    const now = plan?.setup.now ?? Date.now;
    const job = new BackgroundJob(assignment, { ...options, budget, now, turn: this.#turn });
    jobsOf(options.runtime).set(options.ns, job);
    return job;
  }

  /**
   * The jobs in the thread's state, by id. Those that an earlier invocation has left are continued, unless they are at
   * work already. `isAsking`: the caller puts their questions, so an answer may be for them.
   */
  resumeJobs(runtime: ToolRuntime, { isAsking = false } = {}): Map<string, BackgroundJob> {
    const { jobs: entries } = readBackground(runtime.state);
    if (Object.keys(entries).length === 0) return new Map();
    const inProcess = jobsOf(runtime);
    const jobs = new Map<string, BackgroundJob>();
    for (const [id, entry] of Object.entries(entries)) {
      const job = inProcess.get(entry.ns);
      if (job && !mustRestart(job, runtime, isAsking)) {
        job.switchTo(runtime);
        jobs.set(id, job);
        continue;
      }
      const options = { runtime, ns: entry.ns, isResumed: true, mayTakeAnswer: isAsking };
      const assignment = this.#assignment(entry, runtime, id);
      jobs.set(id, assignment ? this.begin(assignment, options) : this.#beginUnknown(entry, options));
    }
    return jobs;
  }

  /** Waits until none of these jobs is at work. Throws their questions, and what stopped them. */
  async settle(jobs: Iterable<BackgroundJob>): Promise<void> {
    const all = [...jobs];
    await Promise.all(all.map(({ end }) => end));
    for (const { settled } of all) if (settled && "stopped" in settled) throw settled.stopped;
    const asks = all.flatMap(({ settled }) => (settled && "asks" in settled ? settled.asks : []));
    if (asks.length > 0) throw new GraphInterrupt(joinedInterrupts(asks));
  }

  /** Returns the results of ended jobs, each once in an invocation. `call`: the call whose result will have them. */
  async collect(jobs: Map<string, BackgroundJob>, runtime: ToolRuntime, call = ""): Promise<EndedJob[]> {
    const ended = [...jobs].flatMap(([id, job]) => {
      const { settled, claimedIn } = job;
      if (!settled || "asks" in settled || "stopped" in settled || claimedIn === runtime.writer) return [];
      job.claimedIn = runtime.writer;
      return [{ id, job, outcome: settled }];
    });
    const conclusions: EndedJob[] = [];
    for (const { id, job, outcome } of ended) {
      conclusions.push(await this.#conclude(id, job, outcome, runtime, call));
    }
    return conclusions;
  }

  /**
   * The jobs whose results fit into one update: no two of them change the same field of the caller's state, which only
   * the caller's reducer could merge.
   */
  withoutConflicts(jobs: Map<string, BackgroundJob>): Map<string, BackgroundJob> {
    const changed = new Set<string>();
    const compatible = [...jobs].filter(([, { settled, assignment }]) => {
      if (!settled || !("report" in settled)) return true;
      const { files: _, ...own } = stateUpdate(assignment.subagent, assignment.start, settled.report.after);
      const fields = Object.keys(own);
      if (fields.some((field) => changed.has(field))) return false;
      for (const field of fields) changed.add(field);
      return true;
    });
    return new Map(compatible);
  }

  /** Stops a job permanently, and returns its report so far. */
  async cancel(id: string, job: BackgroundJob, runtime: ToolRuntime, call: string): Promise<EndedJob> {
    await job.stop();
    const { settled, assignment } = job;
    const hasEnded = settled && !("stopped" in settled) && !("asks" in settled);
    const outcome = hasEnded ? settled : { report: job.soFar(BACKGROUND_TEXTS.cancelled) };
    if (!hasEnded) emitEnd(assignment, runtime.writer, outcome);
    job.claimedIn = runtime.writer;
    return this.#conclude(id, job, outcome, runtime, call);
  }

  async #conclude(
    id: string,
    { assignment, elapsedMs }: BackgroundJob,
    outcome: Outcome,
    { state, writer, configurable, signal }: ToolRuntime,
    call: string,
  ): Promise<EndedJob> {
    const { plan } = this.#options;
    const { todo_id: todo } = assignment.job;
    const context = { id: call, state, writer, configurable, signal };
    const followed =
      plan && todo !== undefined
        ? await FollowedTodo.start(plan, context, { id: todo, alone: false, call: assignment.call })
        : undefined;
    // A refusal means that the user has changed the item meanwhile: it stays as it is.
    const item = Array.isArray(followed) ? undefined : followed;
    const options = { followed: item, hasPlan: plan !== undefined, elapsedMs };
    const conclusion = await conclude({ ...assignment, id: undefined }, outcome, options);
    const name = labelOf(assignment.subagent.name, assignment.job.title);
    return { id, name, ...conclusion };
  }

  #assignment({ job, call }: Entry, runtime: ToolRuntime, id: string): Assignment | undefined {
    const { subagents, plan } = this.#options;
    const subagent = subagents.find(({ name }) => name === job.subagent_type.trim());
    if (!subagent) return undefined;
    const owner = ownerFor(runtime, job, call, plan?.setup.owner);
    const start = startStateFor(subagent, job, { state: runtime.state, call });
    return { subagent, job, call, owner, id, start };
  }

  /** Begins a job that fails, as the thread began with sub-agents that this agent does not have. */
  #beginUnknown({ job, call }: Entry, options: BeginOptions) {
    const fail = () => Promise.reject(new Error("this agent has no such sub-agent any more"));
    const subagent = { name: job.subagent_type, description: "", runnable: { invoke: fail } };
    const owner = ownerFor(options.runtime, job, call);
    return this.begin({ subagent, job, call, owner, start: { messages: [] } }, options);
  }
}

type BeginOptions = Pick<JobOptions, "runtime" | "ns" | "isResumed" | "mayTakeAnswer">;

/** Whether a job has to be restarted: it was stopped, or its question may have been answered. */
function mustRestart(
  { settled, startedIn }: BackgroundJob,
  { configurable, writer }: ToolRuntime,
  isAsking: boolean,
): boolean {
  if (!settled) return false;
  if ("stopped" in settled) return true;
  const isNewInvocation = isResuming(configurable) && startedIn !== writer;
  return "asks" in settled && isAsking && isNewInvocation;
}
