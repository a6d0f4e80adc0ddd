import { isGraphBubbleUp } from "@langchain/langgraph";
import { ownerOf, type FollowedTodo } from "../middleware/plan/index.ts";
import { isNotForModels } from "../middleware/tool-errors/index.ts";
import type { ToolRuntime } from "../middleware/tools/index.ts";
import { NO_FIGURES, type Tally } from "../plan/todo/index.ts";
import { runChild, type ChildContext } from "./child.ts";
import { labelOf, type Failures, type SubagentEvent } from "./events.ts";
import { stateUpdate, type Job, type StartState } from "./exchange.ts";
import { verdictLine, type Report, type Verdict } from "./report.ts";
import type { CompiledSubagent } from "./spec.ts";

/** A job that is given to a sub-agent. */
export interface Assignment {
  subagent: CompiledSubagent;
  job: Job;
  /** The tool call that started it. */
  call: string;
  owner: string;
  /** The sub-agent's id for its caller. */
  id?: string;
  start: StartState;
}

/** The end of an assignment. */
export type Outcome = { report: Report } | { failure: string; spent?: Tally };

/** The owner of a sub-agent's events: `main/researcher:call_7`. `root`: the caller's owner if its run has none. */
export function ownerFor(
  { configurable }: ToolRuntime,
  { subagent_type: name, title }: Job,
  call: string,
  root = "main",
): string {
  return `${ownerOf({ configurable }, root)}/${labelOf(name.trim(), title)}:${call}`;
}

/** Runs a job, and emits events of its start and end. Rethrows interrupts, the caller's abort and errors of the thread. */
export async function runAssignment(
  assignment: Assignment,
  context: Pick<ChildContext, "runtime" | "budget">,
): Promise<Outcome> {
  const { subagent, start, owner, id, job } = assignment;
  const { writer, signal } = context.runtime;
  const { model } = subagent;
  emit(assignment, writer, { type: "subagent-start", ...(model !== undefined && { model }) });
  let outcome: Outcome;
  const usage: ChildContext["usage"] = {};
  try {
    const report = await runChild(subagent, start, { ...context, owner, id, todo: job.todo_id, usage });
    outcome = { report };
  } catch (error) {
    if (isGraphBubbleUp(error) || isNotForModels(error) || signal?.aborted) throw error;
    outcome = { failure: error instanceof Error ? error.message : String(error), ...usage };
  }
  emitEnd(assignment, writer, outcome);
  return outcome;
}

export function emitEnd(assignment: Assignment, writer: ToolRuntime["writer"], outcome: Outcome): void {
  const { result: verdict, reason: error } = verdictOf(outcome);
  const ok = verdict === "done";
  emit(assignment, writer, {
    type: "subagent-end",
    ok,
    verdict,
    ...(!ok && error !== undefined && { error }),
  });
}

export function verdictOf(outcome: Outcome): Verdict {
  return "report" in outcome ? outcome.report.verdict : { result: "failed", reason: outcome.failure };
}

function emit(
  { subagent: { name }, job, call, owner }: Assignment,
  writer: ToolRuntime["writer"],
  event: Pick<SubagentEvent, "type" | "model" | "ok" | "verdict" | "error">,
): void {
  writer?.({
    ...event,
    version: 1,
    owner,
    name,
    call,
    description: job.description,
    ...(job.todo_id !== undefined && { todoId: job.todo_id }),
    at: Date.now(),
  } satisfies SubagentEvent);
}

/** The result of an ended job for the caller's model and state. */
export interface Conclusion {
  text: string;
  isError: boolean;
  verdict: Verdict;
  /** The verdict by call; empty if the job is done. */
  failures: Failures;
  update: Record<string, unknown>;
}

/** Options of `conclude`. */
interface ConcludeOptions {
  /** The plan item that follows the job. */
  followed?: FollowedTodo;
  /** Whether the caller has a plan. */
  hasPlan: boolean;
  /** Milliseconds of work, including `before`. */
  elapsedMs: number;
  /** Milliseconds of work before the job last stopped for the user. */
  before?: number;
  /** Whether a report has no line of the harness. */
  isBare?: boolean;
}

/** Creates the result of an ended job, and ends the plan item that follows it. */
export async function conclude(
  { subagent, start, call, job, id }: Assignment,
  outcome: Outcome,
  { followed, hasPlan, elapsedMs, before = 0, isBare = false }: ConcludeOptions,
): Promise<Conclusion> {
  const tally = "report" in outcome ? outcome.report.spent : outcome.spent;
  const spent = { ...NO_FIGURES, ...tally, elapsedMs };
  const item = job.todo_id === undefined ? {} : { item: job.todo_id };
  const helpers = { [call]: { ...item, spent, ...(before > 0 && { before }) } };
  const planUpdate = hasPlan ? { _plan: { helpers } } : {};
  if ("failure" in outcome) {
    const reason = outcome.failure;
    const ended = await followed?.end({ ok: false, reason, helpers });
    const name = `"${subagent.name}"${id === undefined ? "" : ` (${id})`}`;
    const text = `the sub-agent ${name} failed: ${reason}.${ended ? ` [${ended.sentence}]` : ""}`;
    const verdict = verdictOf(outcome);
    const failures = { [call]: verdict };
    return { text, isError: true, verdict, failures, update: { ...planUpdate, ...ended?.update } };
  }
  const { text, verdict, after } = outcome.report;
  const isDone = verdict.result === "done";
  const { reason = "" } = verdict;
  const ended = await followed?.end(isDone ? { ok: true, helpers } : { ok: false, reason, helpers });
  const line = verdictLine(verdict, { id, more: ended?.sentence });
  return {
    // A program may read the report, so Holdfast adds its line only if the model must know more.
    text: text !== "" && isBare ? text : `${text}\n${line}`.trim(),
    isError: false,
    verdict,
    failures: isDone ? {} : { [call]: verdict },
    update: { ...stateUpdate(subagent, start, after), ...planUpdate, ...ended?.update },
  };
}
