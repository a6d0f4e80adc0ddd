import type { Answer, Call, Conversation } from "../conversation.ts";
import { Plan } from "../plan/plan.ts";
import { errandsFor } from "./delegated.ts";
import { runErrand } from "./errand.ts";
import type { Findings } from "./findings.ts";
import { groupLanguages } from "./languages.ts";
import { lookAtLargest } from "./largest.ts";
import { countLines } from "./lines.ts";
import { renderReport } from "./report.ts";
import { STEP, SURVEY_STEPS, type Section } from "./steps.ts";
import { renderAnswer } from "./summary.ts";
import { walk } from "./walk.ts";
import { checkReport, writeReport } from "./writing.ts";

/** Surveys a folder: each answer is the next step, worked out from all that was done before. */
export function survey(conversation: Conversation, base: string, tools: readonly string[]): Answer {
  const plan = new Plan(SURVEY_STEPS, conversation, tools);
  if (plan.rejection !== undefined) return `Nothing was surveyed. ${plan.rejection}`;
  return plan.opening.length > 0 ? plan.opening : new Survey(conversation, plan, tools).next(base);
}

/** One look at a survey that is under way. Its methods return what to do next, or nothing when they are through. */
class Survey {
  readonly #conversation: Conversation;
  readonly #plan: Plan;
  readonly #canSend: boolean;
  readonly #done: string[] = [];
  readonly #blocked = new Map<string, string>();

  constructor(conversation: Conversation, plan: Plan, tools: readonly string[]) {
    this.#conversation = conversation;
    this.#plan = plan;
    this.#canSend = tools.includes("task");
  }

  next(base: string): Answer {
    const listing = walk(this.#conversation, base);
    const [failed] = listing.failed;
    if (failed?.folder === base) {
      this.#blocked.set(STEP.list, failed.reason);
      return this.#close(`Nothing was surveyed: ${failed.reason}.`);
    }
    if (listing.next.length > 0) {
      const objection = this.#plan.objection(STEP.list);
      if (objection === undefined) return this.#work([STEP.list], listing.next);
      return this.#close(`Nothing was surveyed, because the files were not listed: ${objection}.`);
    }
    this.#done.push(STEP.list);
    const findings: Findings = { listing, omitted: new Map() };
    return (
      this.#countLanguages(findings) ??
      this.#lookAtLargest(findings) ??
      this.#sendHelpers(findings) ??
      this.#writeReport(findings) ??
      this.#checkReport(findings)
    );
  }

  #countLanguages(findings: Findings): Answer | undefined {
    const { counts, notes, next } = countLines(this.#conversation, findings.listing);
    if (next.length > 0) return this.#section("languages", next, findings);
    this.#done.push(STEP.languages);
    findings.languages = { rows: groupLanguages(findings.listing.files, counts), counts, notes };
    return undefined;
  }

  #lookAtLargest(findings: Findings): Answer | undefined {
    const { files, next } = lookAtLargest(this.#conversation, findings.listing);
    if (next.length > 0) return this.#section("largest", next, findings);
    this.#done.push(STEP.largest);
    findings.largest = files;
    return undefined;
  }

  /** Sends all helpers in one turn. */
  #sendHelpers(findings: Findings): Answer | undefined {
    const waiting: { section: Section; next: Call[] }[] = [];
    for (const errand of errandsFor(findings)) {
      const { section, read } = errand;
      const { next, report, problem } = runErrand(errand, this.#conversation, {
        todoId: this.#plan.idOf(STEP[section]),
        canSend: this.#canSend,
      });
      if (next.length > 0) {
        if (this.#isWanted(section, findings)) waiting.push({ section, next });
      } else if (report !== undefined && read(report)) this.#done.push(STEP[section]);
      else {
        const reason = problem ?? "the helper's report could not be understood";
        findings.omitted.set(section, reason);
        this.#blocked.set(STEP[section], reason);
      }
    }
    const [first] = waiting;
    if (!first) return undefined;
    const sent = this.#canSend ? waiting : [first];
    return this.#work(
      sent.map(({ section }) => STEP[section]),
      sent.flatMap(({ next }) => next),
    );
  }

  #writeReport(findings: Findings): Answer | undefined {
    const { next, problem } = writeReport(this.#conversation, findings.listing, () => renderReport(findings));
    if (next.length > 0) {
      const objection = this.#plan.objection(STEP.write);
      if (objection === undefined) return this.#work([STEP.write], next);
      return this.#close(renderAnswer(findings, { problem: `No report was written: ${objection}.` }));
    }
    if (problem !== undefined) {
      this.#blocked.set(STEP.write, problem);
      return this.#close(renderAnswer(findings, { problem: `The report could not be written: ${problem}.` }));
    }
    this.#done.push(STEP.write);
    return undefined;
  }

  #checkReport(findings: Findings): Answer {
    const { next, path = "", problem } = checkReport(this.#conversation);
    const isWanted = this.#plan.objection(STEP.check) === undefined;
    if (next.length > 0 && isWanted) return this.#work([STEP.check], next);
    if (problem !== undefined) this.#blocked.set(STEP.check, problem);
    else if (next.length === 0) this.#done.push(STEP.check);
    const unchecked = next.length > 0 ? "it was not checked" : problem;
    return this.#close(renderAnswer(findings, { path, ...(unchecked !== undefined && { unchecked }) }));
  }

  /** The work of a section, unless the plan does not want it any more. */
  #section(section: Section, next: Call[], findings: Findings): Answer | undefined {
    return this.#isWanted(section, findings) ? this.#work([STEP[section]], next) : undefined;
  }

  #isWanted(section: Section, findings: Findings): boolean {
    const objection = this.#plan.objection(STEP[section]);
    if (objection !== undefined) findings.omitted.set(section, objection);
    return objection === undefined;
  }

  #work(current: readonly string[], calls: Call[]): Call[] {
    return [...this.#plan.report({ done: this.#done, current, blocked: this.#blocked }), ...calls];
  }

  #close(answer: string): Answer {
    return this.#plan.close({ done: this.#done, blocked: this.#blocked }, answer);
  }
}
