import { isGraphBubbleUp } from "@langchain/langgraph";
import { ownerOf, type FollowedTodo } from "../middleware/plan/index.ts";
import { isNotForModels } from "../middleware/tool-errors/index.ts";
import type { ToolRuntime } from "../middleware/tools/index.ts";
import { NO_FIGURES, type Tally } from "../plan/todo/index.ts";
import { runChild, type ChildPlace } from "./child.ts";
import { labelOf, type Failures, type SubagentEvent } from "./events.ts";
import { broughtBack, type Given, type Job } from "./exchange.ts";
import { DONE, verdictLine, type Report, type Verdict } from "./report.ts";
import type { CompiledSubagent } from "./spec.ts";

/** A job in the hands of a sub-agent. */
export interface Assignment {
  subagent: CompiledSubagent;
  job: Job;
  /** The tool call that started it. */
  call: string;
  owner: string;
  /** The id by which its caller knows it. */
  id?: string | undefined;
  given: Given;
}

/** The end of an assignment. */
export type Outcome = { report: Report } | { failure: string; spent?: Tally | undefined };

/** The owner of a sub-agent's events: `main/researcher:call_7`. `root`: the caller, where its run names none. */
export function ownerFor(
  { configurable }: ToolRuntime,
  { subagent_type: name, title }: Job,
  call: string,
  root = "main",
): string {
  return `${ownerOf({ configurable }, root)}/${labelOf(name.trim(), title)}:${call}`;
}

/** Runs a job, and writes events of its start and end. Rethrows interrupts, the caller's abort and errors of the thread. */
export async function carryOut(
  assignment: Assignment,
  place: Omit<ChildPlace, "owner" | "id" | "todo" | "told">,
): Promise<Outcome> {
  const { subagent, given, owner, id, job } = assignment;
  const { writer, signal } = place.runtime;
  tell(assignment, writer, { type: "subagent-start" });
  let outcome: Outcome;
  const told: ChildPlace["told"] = {};
  try {
    outcome = { report: await runChild(subagent, given, { ...place, owner, id, todo: job.todo_id, told }) };
  } catch (error) {
    if (isGraphBubbleUp(error) || isNotForModels(error) || signal?.aborted) throw error;
    outcome = { failure: error instanceof Error ? error.message : String(error), ...told };
  }
  tellEnd(assignment, writer, outcome);
  return outcome;
}

export function tellEnd(assignment: Assignment, writer: ToolRuntime["writer"], outcome: Outcome): void {
  const { result: verdict, reason: error } = verdictOf(outcome);
  const ok = verdict === "done";
  const why = ok || error === undefined ? {} : { error };
  tell(assignment, writer, { type: "subagent-end", ok, verdict, ...why });
}

function verdictOf(outcome: Outcome): Verdict {
  return "report" in outcome ? outcome.report.verdict : { result: "failed", reason: outcome.failure };
}

function tell(
  { subagent: { name }, job, call, owner }: Assignment,
  writer: ToolRuntime["writer"],
  event: Pick<SubagentEvent, "type" | "ok" | "verdict" | "error">,
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
  /** The verdict, by its call, where it is not done. */
  failures: Failures;
  update: Record<string, unknown>;
}

/** The parts of a job's conclusion. */
export interface Closing {
  /** The plan item that followed it. */
  followed?: FollowedTodo | undefined;
  /** Whether the caller has a plan. */
  hasPlan: boolean;
  /** The milliseconds of its work, those before it last stopped for a person included. */
  elapsedMs: number;
  /** The milliseconds before it last stopped for a person. */
  before?: number;
}

/** Makes the result of an ended job, and ends the plan item that followed it. */
export async function conclude(
  { subagent, given, call, job, id }: Assignment,
  outcome: Outcome,
  { followed, hasPlan, elapsedMs, before = 0 }: Closing,
): Promise<Conclusion> {
  const tally = "report" in outcome ? outcome.report.spent : outcome.spent;
  const spent = { ...NO_FIGURES, ...tally, elapsedMs };
  const item = job.todo_id === undefined ? {} : { item: job.todo_id };
  const helpers = { [call]: { ...item, spent, ...(before > 0 && { before }) } };
  const counted = hasPlan ? { _plan: { helpers } } : {};
  if ("failure" in outcome) {
    const reason = outcome.failure;
    const ended = await followed?.end({ ok: false, reason, helpers });
    const name = `"${subagent.name}"${id === undefined ? "" : ` (${id})`}`;
    const text = `the sub-agent ${name} failed: ${reason}.${ended ? ` [${ended.sentence}]` : ""}`;
    const failures = { [call]: verdictOf(outcome) };
    return { text, isError: true, failures, update: { ...counted, ...ended?.update } };
  }
  const { text, verdict, after } = outcome.report;
  const isDone = verdict.result === "done";
  const { reason = "" } = verdict;
  const ended = await followed?.end(isDone ? { ok: true, helpers } : { ok: false, reason, helpers });
  const line = verdictLine(verdict, ended?.sentence);
  const head = id === undefined ? line : `${line} ${id}`;
  return {
    // A structured response is for programs, too.
    text: line === DONE && after.structuredResponse !== undefined ? text : `${head}\n${text}`.trimEnd(),
    isError: false,
    failures: isDone ? {} : { [call]: verdict },
    update: { ...broughtBack(subagent, given, after), ...counted, ...ended?.update },
  };
}
