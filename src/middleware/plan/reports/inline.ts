import type { Figures, Todo } from "../../../plan/index.ts";
import { DONE_ARGUMENT, type Report } from "../messages/inline-argument.ts";
import { planText } from "../plan-call/tools.ts";
import { changedEntries, rememberChange, type Outcome, type Turns } from "../plan-call/turn.ts";
import { completedIds } from "../plan-call/verify.ts";
import { readPlanState, type PlanMemory } from "../state.ts";
import type { PlanEffect } from "./answer.ts";

/** The effect of a message's reports. */
export interface Reported {
  /** The reports, with what the model is to be told of them. */
  reports: Report[];
  /** Absent where nothing changed. */
  change?: PlanEffect;
}

/** The context of a message with reports. */
export interface Reporting {
  /** The graph state as a plan call of the message would find it. */
  state: object;
  /** The plan as the model knows it, edits that it was just told of included. */
  seen: PlanMemory["seen"];
  /** The model has not seen the plan as it is: it is shown with the reply. */
  isUnseen: boolean;
  /** The message has a call that writes a plan. */
  isWriting: boolean;
  signal: AbortSignal | undefined;
  /** The spending before the message. */
  now: Figures;
}

const TOO_EARLY = `${DONE_ARGUMENT} is for what was finished before the call; the plan was only being made.`;

/**
 * Evaluates reports by the rules for a plan call, one after the other, on the plan as it was before the message: what
 * is reported was done before. Plan calls of the same message come after it.
 */
export async function applyReports(
  turns: Turns,
  reports: readonly Report[],
  { state, seen, isUnseen, isWriting, signal, now }: Reporting,
): Promise<Reported> {
  const { todos: before, memory } = readPlanState(state);
  const said = reports.filter((report) => !isNothing(report.said));
  if (before.length === 0) {
    const refused = isWriting ? { isRefused: true, reply: TOO_EARLY } : {};
    return { reports: reports.map((report) => (said.includes(report) ? { ...report, ...refused } : report)) };
  }
  const judged = said.filter((report) => !isAboutItself(report));
  const outcomes = await turns.report(
    judged.map((report) => report.said),
    state,
    { signal, now },
  );
  const answered = reports.map((report): Report => {
    if (judged.includes(report)) return withReply(report, outcomes[judged.indexOf(report)]!);
    if (!said.includes(report)) return report;
    const reply = `${DONE_ARGUMENT}: item ${report.worksOn} is what this call was for; it is done when the call is.`;
    return { ...report, isRefused: true, reply };
  });
  const last = outcomes.at(-1);
  const changes = outcomes.flatMap(({ accepted }) => accepted?.changes ?? []);
  const refused = answered.findLast(({ isRefused }) => isRefused);
  if (!last || changes.length === 0) {
    return { reports: refused && isUnseen ? showing(answered, refused, before) : answered };
  }
  const { plan } = last;
  const { todos } = plan;
  const marks = changedEntries(memory.marks, last.marks);
  const { ledger } = outcomes.findLast(({ accepted }) => accepted)!.accepted!;
  return {
    reports: isUnseen ? showing(answered, judged.at(-1)!, todos) : answered,
    change: { changes, todos, ledger, memory: rememberChange({ plan, changes, marks }, seen) },
  };
}

/** A call that reports the item it is for: no work on it has been done yet. */
function isAboutItself({ said, worksOn }: Report): boolean {
  return worksOn !== undefined && String(said).trim() === worksOn.trim();
}

function withReply(report: Report, { issues, accepted }: Outcome): Report {
  const notes = accepted?.notes ?? [];
  // The engine speaks of the field that a plan call would have.
  const lines = issues.map(({ message }) => message.replace(/^done\b/, DONE_ARGUMENT));
  // Otherwise a model takes the items of its report that are not named here for completed.
  if (!accepted) lines.push("This report changed nothing.");
  const reply = [...lines, ...(notes.length > 0 ? [`Note: ${notes.join(" ")}`] : [])].join("\n");
  if (reply) return { ...report, ...(issues.length > 0 && { isRefused: true }), reply };
  const ids = completedIds(accepted?.changes ?? []).join(", ");
  return { ...report, ...(ids && { confirmed: `${ids} done` }) };
}

/** The reply to one report with the whole plan in it. */
function showing(reports: Report[], to: Report, todos: readonly Todo[]): Report[] {
  return reports.map((report) => {
    if (report.id !== to.id || report.said !== to.said) return report;
    const reply = [report.reply, planText(todos)].filter(Boolean).join("\n");
    return { ...report, reply, showsPlan: true };
  });
}

/** Returns whether a value reports nothing: some models believe that they must send something. */
function isNothing(said: unknown): boolean {
  if (Array.isArray(said)) return said.every(isNothing);
  if (typeof said === "string") return /^(?:none|null|no|false|n\/a|-|\[\])?$/i.test(said.trim());
  return said === null || said === undefined || said === false;
}
