import { workOn, type Dialect, type WantedCall } from "./dialects.ts";
import { draw } from "./draw.ts";
import { COMPLIANCE, REPEATS_FOR_EVER, STAYS_REPEATING, type FaultName, type Faults } from "./faults.ts";
import type { JobStep } from "./job.ts";
import type { SeenItem } from "./plan-view.ts";
import type { Belief } from "./reading.ts";

/** What the model says and calls. `broken` is a plan call whose arguments are no JSON. */
export interface Turn {
  text: string;
  calls: readonly WantedCall[];
  broken?: string;
}

/** What decides a turn besides what the model believes. */
export interface Mind {
  seed: string;
  faults: Faults;
  dialect: Dialect | undefined;
  /** The prompt says that the final answer completes the last item. */
  answerCompletes: boolean;
}

const ANSWER = "All services are migrated.";
/** After so many refusals in a row a model lets the plan be. */
const GIVES_UP = 3;

/** Decides the next turn from what the model believes, its faults and its seed, and from nothing else. */
export function decide(belief: Belief, mind: Mind): Turn {
  const { turn, lastWork, reminder } = belief;
  const told = reminder !== undefined && complies(belief, mind);
  if (lastWork !== undefined && !told && isRepeating(lastWork, turn, mind)) {
    return { text: "", calls: [workOn({ name: lastWork })] };
  }
  if (reminder === "exit" && !told) return { text: ANSWER, calls: [] };
  if (belief.isFinished && !belief.isWhole) return { text: ANSWER, calls: [] };
  if (!belief.isWhole && fires("forgets", mind, turn)) return { text: ANSWER, calls: [] };
  const open = belief.steps.filter(({ name }) => !belief.done.has(name));
  if (open.length > 0 && reminder !== "exit" && fires("early-answer", mind, turn)) {
    return { text: ANSWER, calls: [] };
  }
  return proceed(belief, mind, open);
}

/** Works on: picks a step, says what was done since the last report, and makes the work call beside it. */
function proceed(belief: Belief, mind: Mind, open: readonly JobStep[]): Turn {
  const done = new Set(belief.done);
  const begun = open.find(({ name }) => name === belief.begun);
  let next = begun ?? choose(open, done, mind);
  let text = "";
  if (next && !begun && !belief.refused.has(next.name) && fires("claims", mind, next.name)) {
    done.add(next.name);
    text = `Finished ${next.name}.`;
    next = choose(
      open.filter((step) => step !== next),
      done,
      mind,
    );
  }
  const report = planCalls(belief, mind, { done, next });
  const work = report.redo ?? next;
  // Broken JSON breaks the call that carries the report.
  const isBroken =
    report.broken === "update_todos" && mind.dialect?.attach !== undefined && work !== undefined;
  if (isBroken) return { text, calls: [], broken: workOn(work).name };
  const calls = work ? withWork(report.calls, workOn(work), mind.dialect) : report.calls;
  if (calls.length === 0 && report.broken === undefined) return { text: `${text} ${ANSWER}`.trim(), calls };
  return { text, calls, ...(report.broken !== undefined && { broken: report.broken }) };
}

function withWork(reports: WantedCall[], work: WantedCall, dialect: Dialect | undefined): WantedCall[] {
  const [only, ...others] = reports;
  const both = only && others.length === 0 ? dialect?.attach?.(only, work) : undefined;
  return both ? [both] : [...reports, work];
}

/** The first step that waits for nothing, or, ignoring dependencies, the first that does wait. */
function choose(open: readonly JobStep[], done: ReadonlySet<string>, mind: Mind): JobStep | undefined {
  const waits = ({ after }: JobStep): boolean => after.some((name) => !done.has(name));
  const first = open.find((step) => !waits(step)) ?? open[0];
  if (!first || !fires("ignores-dependencies", mind, first.name)) return first;
  return open.find(waits) ?? first;
}

interface Report {
  calls: WantedCall[];
  broken?: string;
  /** A finished step that is done once more. */
  redo?: JobStep;
}

function planCalls(
  belief: Belief,
  mind: Mind,
  { done, next }: { done: ReadonlySet<string>; next: JobStep | undefined },
): Report {
  const { dialect } = mind;
  if (!dialect || isSilent(belief, mind, { done, next })) return { calls: [] };
  const before = belief.plan;
  let after = wantedItems(belief, belief.wasDoubted ? careful(done, before) : done, next);
  const finished = belief.steps.find(({ name }) => belief.done.has(name));
  const reopened = before && finished && next && fires("reopens", mind, belief.turn) ? finished : undefined;
  if (reopened) after = after.map((item) => reopen(item, reopened, next!));
  const call = before ? dialect.report(before, after) : dialect.write(after);
  if (!call) return { calls: [] };
  const redo = reopened && { redo: reopened };
  // What it was asked for once more it makes anew.
  const attempt = belief.askedAgain > 0 ? `${belief.turn} again ${belief.askedAgain}` : belief.turn;
  if (fires("malformed", mind, attempt)) {
    const spoiled = dialect.spoil(call, Math.floor(draw(mind.seed, "way", belief.turn) * 4));
    return spoiled === "broken JSON"
      ? { calls: [], broken: call.name, ...redo }
      : { calls: [spoiled], ...redo };
  }
  const isSplit = before && fires("parallel", mind, belief.turn);
  return { calls: isSplit ? dialect.split(before, after) : [call], ...redo };
}

/** Whether the model keeps its plan to itself in this turn. */
function isSilent(
  belief: Belief,
  mind: Mind,
  { done, next }: { done: ReadonlySet<string>; next: JobStep | undefined },
): boolean {
  const { plan, reminder, refusals } = belief;
  if (!plan) return false;
  if (!next) {
    const unreported = plan.filter(({ name, status }) => status !== "completed" && done.has(name));
    const isLast = unreported.length === 1 && unreported[0]!.status === "in_progress";
    const isKnown = mind.answerCompletes && isLast && refusals === 0 && reminder !== "exit";
    return isKnown || refusals >= GIVES_UP;
  }
  if (refusals > 0) return !complies(belief, mind);
  if (belief.wasDoubted) return false;
  return fires("batches", mind, "task") && !(reminder !== undefined && complies(belief, mind));
}

/** The plan as it should be: every step the model knows of, with the state it takes it to be in. */
function wantedItems(
  { plan = [], steps }: Belief,
  done: ReadonlySet<string>,
  next: JobStep | undefined,
): SeenItem[] {
  const unlisted = steps.filter(({ name }) => !plan.some((item) => item.name === name));
  const listed = [
    ...plan.map(({ id, name, after }) => ({ id, name, after })),
    ...unlisted.map(({ name, after }, at) => ({ id: String(plan.length + at + 1), name, after })),
  ];
  return listed.map((item) => ({
    ...item,
    status: done.has(item.name) ? "completed" : item.name === next?.name ? "in_progress" : "pending",
  }));
}

/** A model whose word was doubted goes item by item: it reports only what its plan shows as begun. */
function careful(done: ReadonlySet<string>, plan: readonly SeenItem[] = []): ReadonlySet<string> {
  const waiting = plan.filter(({ status }) => status === "pending").map(({ name }) => name);
  return new Set([...done].filter((name) => !waiting.includes(name)));
}

function reopen(item: SeenItem, reopened: JobStep, next: JobStep): SeenItem {
  if (item.name === reopened.name) return { ...item, status: "in_progress" };
  return item.name === next.name ? { ...item, status: "pending" } : item;
}

function isRepeating(name: string, turn: number, mind: Mind): boolean {
  if (!fires("repeats", mind, name)) return false;
  return (
    draw(mind.seed, "for ever", name) < REPEATS_FOR_EVER || draw(mind.seed, "stays", turn) < STAYS_REPEATING
  );
}

function fires(fault: FaultName, { seed, faults }: Mind, key: string | number): boolean {
  return draw(seed, fault, key) < faults[fault];
}

function complies({ turn }: Belief, { seed }: Mind): boolean {
  return draw(seed, "complies", turn) < COMPLIANCE;
}
