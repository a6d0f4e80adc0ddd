import { isGraphBubbleUp } from "@langchain/langgraph";
import { ownerOf } from "../middleware/plan/events.ts";
import type { FollowedTodo } from "../middleware/plan/reports/follow.ts";
import type { ToolRuntime } from "../middleware/tools/loose-tool.ts";
import type { Tally } from "../plan/index.ts";
import { NO_FIGURES } from "../plan/todo/actuals.ts";
import { runChild, type ChildPlace } from "./child.ts";
import type { SubagentEvent } from "./events.ts";
import { broughtBack, type Given, type Job } from "./exchange.ts";
import type { Report } from "./report.ts";
import type { CompiledSubagent } from "./spec.ts";

/** A job in the hands of a sub-agent. */
export interface Assignment {
  subagent: CompiledSubagent;
  job: Job;
  /** The tool call that started it. */
  call: string;
  owner: string;
  given: Given;
}

/** The end of an assignment. */
export type Outcome = { report: Report } | { failure: string; spent?: Tally | undefined };

/** The place of a sub-agent: `main/researcher:call_7`. `root`: the caller's name, where it has none from its own. */
export function ownerFor({ configurable }: ToolRuntime, name: string, call: string, root = "main"): string {
  return `${ownerOf({ configurable }, root)}/${name}:${call}`;
}

/** Has a job done, and tells of its start and its end. Interrupts and the caller's own abort are thrown on. */
export async function carryOut(
  assignment: Assignment,
  place: Omit<ChildPlace, "owner" | "todo" | "told">,
): Promise<Outcome> {
  const { subagent, given, owner, job } = assignment;
  const { writer, signal } = place.runtime;
  tell(assignment, writer, { type: "subagent-start" });
  let outcome: Outcome;
  const told: ChildPlace["told"] = {};
  try {
    outcome = { report: await runChild(subagent, given, { ...place, owner, todo: job.todo_id, told }) };
  } catch (error) {
    if (isGraphBubbleUp(error) || signal?.aborted) throw error;
    outcome = { failure: error instanceof Error ? error.message : String(error), ...told };
  }
  tellEnd(assignment, writer, outcome);
  return outcome;
}

export function tellEnd(assignment: Assignment, writer: ToolRuntime["writer"], outcome: Outcome): void {
  const error = "failure" in outcome ? outcome.failure : outcome.report.unfinished;
  const type = "subagent-end";
  tell(assignment, writer, error === undefined ? { type, ok: true } : { type, ok: false, error });
}

function tell(
  { subagent: { name }, job, call, owner }: Assignment,
  writer: ToolRuntime["writer"],
  event: Pick<SubagentEvent, "type" | "ok" | "error">,
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
  /** Why it did not succeed, by its call, where it did not. */
  failures: Record<string, string>;
  update: Record<string, unknown>;
}

/** The parts of a job's conclusion. */
export interface Closing {
  /** The plan item that followed it. */
  followed?: FollowedTodo | undefined;
  /** Whether the caller has a plan. */
  hasPlan: boolean;
  /** For how many milliseconds it has worked, and how many of them before it last stopped for a person. */
  elapsedMs: number;
  before?: number;
}

/** Puts together what comes of a job, for the plan item that followed it, too. */
export async function conclude(
  { subagent, given, call, job }: Assignment,
  outcome: Outcome,
  { followed, hasPlan, elapsedMs, before = 0 }: Closing,
): Promise<Conclusion> {
  const tally = "report" in outcome ? outcome.report.spent : outcome.spent;
  const spent = { ...NO_FIGURES, ...tally, elapsedMs };
  const item = job.todo_id === undefined ? {} : { item: job.todo_id };
  const helpers = { [call]: { ...item, spent, ...(before > 0 && { before }) } };
  const counted = hasPlan ? { _plan: { helpers } } : {};
  if ("failure" in outcome) {
    const { failure: reason } = outcome;
    const ended = await followed?.end({ ok: false, reason, helpers });
    const text = `the sub-agent "${subagent.name}" failed: ${reason}.${ended ? ` [${ended.sentence}]` : ""}`;
    return { text, isError: true, failures: { [call]: reason }, update: { ...counted, ...ended?.update } };
  }
  const { text, unfinished, after } = outcome.report;
  const ended = await followed?.end(
    unfinished === undefined ? { ok: true, helpers } : { ok: false, reason: unfinished, helpers },
  );
  const remarks = [
    ...(unfinished === undefined ? [] : [`The sub-agent did not finish: ${unfinished}.`]),
    ...(ended ? [ended.sentence] : []),
  ];
  return {
    text: remarks.length > 0 ? `${text}\n\n[${remarks.join(" ")}]` : text,
    isError: false,
    failures: unfinished === undefined ? {} : { [call]: unfinished },
    update: { ...broughtBack(subagent, given, after), ...counted, ...ended?.update },
  };
}
