import type { Figures, Todo } from "../../../plan/index.ts";
import { DONE_ARGUMENT, type Report } from "../messages/inline-argument.ts";
import { planText } from "../plan-call/tools.ts";
import { changedEntries, rememberChange, type Outcome, type Turns } from "../plan-call/turn.ts";
import { completedIds } from "../plan-call/verify.ts";
import { readPlanState, type PlanMemory } from "../state.ts";
import type { PlanEffect } from "./answer.ts";

/** The effect of a message's reports. */
export interface Reported {
  /** The reports with the replies to the model. */
  reports: Report[];
  /** Absent if nothing changed. */
  change?: PlanEffect;
}

/** The context of a message with reports. */
export interface Reporting {
  /** The graph state for a plan call of the message. */
  state: object;
  /** The digests of the plan as the model knows it, including edits that it was just told of. */
  seen: PlanMemory["seen"];
  /** Whether the model has not seen the current plan: then a reply shows it. */
  isUnseen: boolean;
  /** Whether the message has a call that writes a plan. */
  isWriting: boolean;
  signal: AbortSignal | undefined;
  /** The spending before the message. */
  now: Figures;
}

const TOO_EARLY = `${DONE_ARGUMENT} is for what was finished before the call; the plan was only being made.`;

/**
 * Evaluates reports like plan calls, one after the other, on the plan from before the message: the reported work was
 * done before it. Plan calls of the same message are applied afterwards.
 */
export async function applyReports(
  turns: Turns,
  reports: readonly Report[],
  { state, seen, isUnseen, isWriting, signal, now }: Reporting,
): Promise<Reported> {
  const { todos: before, memory } = readPlanState(state);
  const nonEmpty = reports.filter((report) => !isNothing(report.said));
  if (before.length === 0) {
    const refused = isWriting ? { isRefused: true, reply: TOO_EARLY } : {};
    return {
      reports: reports.map((report) => (nonEmpty.includes(report) ? { ...report, ...refused } : report)),
    };
  }
  const evaluated = nonEmpty.filter((report) => !isAboutItself(report));
  const outcomes = await turns.report(
    evaluated.map((report) => report.said),
    state,
    { signal, now },
  );
  const answered = reports.map((report): Report => {
    if (evaluated.includes(report)) return withReply(report, outcomes[evaluated.indexOf(report)]!);
    if (!nonEmpty.includes(report)) return report;
    const reply = `${DONE_ARGUMENT}: item ${report.worksOn} is what this call was for; it is done when the call is.`;
    return { ...report, isRefused: true, reply };
  });
  const last = outcomes.at(-1);
  const changes = outcomes.flatMap(({ accepted }) => accepted?.changes ?? []);
  const refused = answered.findLast(({ isRefused }) => isRefused);
  if (!last || changes.length === 0) {
    return { reports: refused && isUnseen ? withPlan(answered, refused, before) : answered };
  }
  const { plan } = last;
  const { todos } = plan;
  const marks = changedEntries(memory.marks, last.marks);
  const { ledger } = outcomes.findLast(({ accepted }) => accepted)!.accepted!;
  return {
    reports: isUnseen ? withPlan(answered, evaluated.at(-1)!, todos) : answered,
    change: { changes, todos, ledger, memory: rememberChange({ plan, changes, marks }, seen) },
  };
}

/** Whether a call reports the item that it is for itself: that work has not been done yet. */
function isAboutItself({ said, worksOn }: Report): boolean {
  return worksOn !== undefined && String(said).trim() === worksOn.trim();
}

function withReply(report: Report, { issues, accepted }: Outcome): Report {
  const notes = accepted?.notes ?? [];
  // The engine names the field of a plan call.
  const lines = issues.map(({ message }) => message.replace(/^done\b/, DONE_ARGUMENT));
  // Without it, a model takes items of its report that are not named here for completed.
  if (!accepted) lines.push("This report changed nothing.");
  const reply = [...lines, ...(notes.length > 0 ? [`Note: ${notes.join(" ")}`] : [])].join("\n");
  if (reply) return { ...report, ...(issues.length > 0 && { isRefused: true }), reply };
  const ids = completedIds(accepted?.changes ?? []).join(", ");
  return { ...report, ...(ids && { confirmed: `${ids} done` }) };
}

/** Adds the whole plan to the reply to one report. */
function withPlan(reports: Report[], to: Report, todos: readonly Todo[]): Report[] {
  return reports.map((report) => {
    if (report.id !== to.id || report.said !== to.said) return report;
    const reply = [report.reply, planText(todos)].filter(Boolean).join("\n");
    return { ...report, reply, showsPlan: true };
  });
}

/** Whether a value reports nothing: some models always send one. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isNothing);
  if (typeof value === "string") return /^(?:none|null|no|false|n\/a|-|\[\])?$/i.test(value.trim());
  return value === null || value === undefined || value === false;
}
