import { GraphInterrupt } from "@langchain/langgraph";
import { joinedInterrupts, isResuming } from "../../langgraph/index.ts";
import { FollowedTodo } from "../../middleware/plan/index.ts";
import type { ToolRuntime } from "../../middleware/tools/index.ts";
import {
  conclude,
  ownerFor,
  tellEnd,
  type Assignment,
  type Conclusion,
  type Outcome,
} from "../assignment.ts";
import { labelOf } from "../events.ts";
import { broughtBack, givenTo } from "../exchange.ts";
import type { SubagentsOptions } from "../spec.ts";
import { BACKGROUND_TEXTS } from "./background.prompt.ts";
import { BackgroundJob, type Terms } from "./job.ts";
import { jobsOf } from "./registry.ts";
import { readBackground, type Entry } from "./state.ts";

/** A job that has ended, for its caller. */
export interface Ended extends Conclusion {
  id: string;
  name: string;
}

/** The sub-agents of an agent that work in the background. */
export class Crew {
  /** The fields of the state that are looked at; those that the agent does not have are not read. */
  readonly fields: readonly string[];
  readonly #options: SubagentsOptions;
  readonly #turn: Terms["turn"];

  constructor(options: SubagentsOptions, turn: Terms["turn"]) {
    this.#options = options;
    const shared = options.subagents.flatMap(({ stateFields = [] }) => stateFields);
    this.fields = ["messages", "files", "todos", "_plan", "_background", ...shared];
    this.#turn = turn;
  }

  /** Starts a job, or goes on with it where it has checkpoints. */
  begin(assignment: Assignment, terms: Pick<Terms, "runtime" | "ns" | "isResumed" | "mayTakeAnswer">) {
    const { budget, plan } = this.#options;
    const now = plan?.setup.now ?? Date.now;
    const job = new BackgroundJob(assignment, { ...terms, budget, now, turn: this.#turn });
    jobsOf(terms.runtime).set(terms.ns, job);
    return job;
  }

  /**
   * The jobs that the thread knows of, by id. Those that an earlier invocation has left go on, where they are not at
   * work already. `isAsking`: questions of theirs are put here, so an answer may be for them.
   */
  muster(runtime: ToolRuntime, { isAsking = false } = {}): Map<string, BackgroundJob> {
    const { jobs } = readBackground(runtime.state);
    if (Object.keys(jobs).length === 0) return new Map();
    const known = jobsOf(runtime);
    const found = new Map<string, BackgroundJob>();
    for (const [id, entry] of Object.entries(jobs)) {
      const job = known.get(entry.ns);
      if (job && !isDue(job, runtime, isAsking)) {
        job.turnTo(runtime);
        found.set(id, job);
        continue;
      }
      const terms = { runtime, ns: entry.ns, isResumed: true, mayTakeAnswer: isAsking };
      const assignment = this.#assignment(entry, runtime, id);
      found.set(id, assignment ? this.begin(assignment, terms) : this.#missing(entry, terms));
    }
    return found;
  }

  /** Waits until none of these is at work. Throws the questions that they have, and what stopped them. */
  async settle(jobs: Iterable<BackgroundJob>): Promise<void> {
    const all = [...jobs];
    await Promise.all(all.map(({ end }) => end));
    for (const { settled } of all) if (settled && "stopped" in settled) throw settled.stopped;
    const asks = all.flatMap(({ settled }) => (settled && "asks" in settled ? settled.asks : []));
    if (asks.length > 0) throw new GraphInterrupt(joinedInterrupts(asks));
  }

  /** Takes the jobs that have ended, once in an invocation: what their caller gets. `call`: the call it comes with. */
  async collect(jobs: Map<string, BackgroundJob>, runtime: ToolRuntime, call = ""): Promise<Ended[]> {
    const ended = [...jobs].flatMap(([id, job]) => {
      const { settled, claimedIn } = job;
      if (!settled || "asks" in settled || "stopped" in settled || claimedIn === runtime.writer) return [];
      job.claimedIn = runtime.writer;
      return [{ id, job, outcome: settled }];
    });
    const conclusions: Ended[] = [];
    for (const { id, job, outcome } of ended) {
      conclusions.push(await this.#conclude(id, job, outcome, runtime, call));
    }
    return conclusions;
  }

  /**
   * The jobs that can be handed on in one update: no two that change the same field of the caller's own state, which
   * only the caller's reducer could merge.
   */
  together(jobs: Map<string, BackgroundJob>): Map<string, BackgroundJob> {
    const changed = new Set<string>();
    const apart = [...jobs].filter(([, { settled, assignment }]) => {
      if (!settled || !("report" in settled)) return true;
      const { files: _, ...own } = broughtBack(assignment.subagent, assignment.given, settled.report.after);
      const fields = Object.keys(own);
      if (fields.some((field) => changed.has(field))) return false;
      for (const field of fields) changed.add(field);
      return true;
    });
    return new Map(apart);
  }

  /** Stops a job for good: what it has found so far is its report. */
  async cancel(id: string, job: BackgroundJob, runtime: ToolRuntime, call: string): Promise<Ended> {
    await job.stop();
    const { settled, assignment } = job;
    const hasEnded = settled && !("stopped" in settled) && !("asks" in settled);
    const outcome = hasEnded ? settled : { report: job.soFar(BACKGROUND_TEXTS.cancelled) };
    if (!hasEnded) tellEnd(assignment, runtime.writer, outcome);
    job.claimedIn = runtime.writer;
    return this.#conclude(id, job, outcome, runtime, call);
  }

  async #conclude(
    id: string,
    { assignment, elapsedMs }: BackgroundJob,
    outcome: Outcome,
    { state, writer, configurable, signal }: ToolRuntime,
    call: string,
  ): Promise<Ended> {
    const { plan } = this.#options;
    const { todo_id: todo } = assignment.job;
    const context = { id: call, state, writer, configurable, signal };
    const followed =
      plan && todo !== undefined
        ? await FollowedTodo.start(plan, context, { id: todo, alone: false, call: assignment.call })
        : undefined;
    // What a person has decided of the item meanwhile holds.
    const item = Array.isArray(followed) ? undefined : followed;
    const closing = { followed: item, hasPlan: plan !== undefined, elapsedMs };
    const conclusion = await conclude({ ...assignment, id: undefined }, outcome, closing);
    const name = labelOf(assignment.subagent.name, assignment.job.title);
    return { id, name, ...conclusion };
  }

  #assignment({ job, call }: Entry, runtime: ToolRuntime, id: string): Assignment | undefined {
    const { subagents, plan } = this.#options;
    const subagent = subagents.find(({ name }) => name === job.subagent_type.trim());
    if (!subagent) return undefined;
    const owner = ownerFor(runtime, job, call, plan?.setup.owner);
    const given = givenTo(subagent, job, { state: runtime.state, call });
    return { subagent, job, call, owner, id, given };
  }

  /** The thread was begun with other sub-agents than this agent has. */
  #missing({ job, call }: Entry, terms: Pick<Terms, "runtime" | "ns" | "isResumed" | "mayTakeAnswer">) {
    const fail = () => Promise.reject(new Error("this agent has no such sub-agent any more"));
    const subagent = { name: job.subagent_type, description: "", runnable: { invoke: fail } };
    const owner = ownerFor(terms.runtime, job, call);
    return this.begin({ subagent, job, call, owner, given: { messages: [] } }, terms);
  }
}

/** Whether a job has to be started anew: it was stopped, or what it asked may have been answered. */
function isDue(
  { settled, startedIn }: BackgroundJob,
  { configurable, writer }: ToolRuntime,
  isAsking: boolean,
): boolean {
  if (!settled) return false;
  if ("stopped" in settled) return true;
  const isTakenUp = isResuming(configurable) && startedIn !== writer;
  return "asks" in settled && isAsking && isTakenUp;
}
