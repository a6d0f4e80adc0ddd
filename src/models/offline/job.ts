import type { Answer, Call, Conversation } from "./conversation.ts";
import { Plan } from "./plan/plan.ts";
import type { Step } from "./plan/view.ts";

/** What a job has come to. */
export interface JobState {
  /** The phase that is worked on; past the last one when the work is done. */
  phase: number;
  next: Call[];
  /** What it returns, as far as it is known. */
  report: string;
}

/** A part of a survey that can be handed to a helper: it knows only the description. */
export interface Job {
  /** How its description begins. */
  title: string;
  phases: readonly Step[];
  work: (conversation: Conversation, description: string) => JobState;
}

/** Does a job: a short plan, its phases, and the report. */
export function doJob(job: Job, conversation: Conversation, tools: readonly string[]): Answer {
  const plan = new Plan(job.phases, conversation, tools);
  if (plan.opening.length > 0) return plan.opening;
  const { phase, next, report } = job.work(conversation, conversation.request);
  const done = job.phases.slice(0, phase).map(({ content }) => content);
  const current = job.phases[phase]?.content;
  if (next.length === 0) return plan.close({ done }, report);
  return [...plan.report({ done, current: current === undefined ? [] : [current] }), ...next];
}
