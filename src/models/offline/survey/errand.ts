import { call, type Call, type Conversation, type DoneCall } from "../conversation.ts";
import type { Job } from "../job.ts";
import { reasonIn } from "../words.ts";
import { readPages } from "./pages.ts";
import type { Section } from "./steps.ts";

/** A part of the survey that is handed on. */
export interface Errand {
  section: Section;
  job: Job;
  /** Undefined when there is nothing to do. */
  description: string | undefined;
  /** Takes the report, which is empty when there was nothing to do. False when it could not be understood. */
  read: (report: string) => boolean;
}

/** What came of an errand so far. */
export interface Outcome {
  /** To send the helper, or to read on in a long report. */
  next: Call[];
  report?: string;
  problem?: string;
}

/** Sends a helper or, where there are none, does its job here, one step at a time. */
export function runErrand(
  { job, description }: Errand,
  conversation: Conversation,
  { todoId, canSend }: { todoId: string | undefined; canSend: boolean },
): Outcome {
  if (description === undefined) return { next: [], report: "" };
  const sent = conversation.calls.findLast(
    ({ name, args }) => name === "task" && String(args["description"]).startsWith(job.title),
  );
  const refused = sent?.failed && sent.args["todo_id"] !== undefined && isRefusal(sent.result);
  if (sent && !refused) return outcomeOf(sent, conversation);
  if (!canSend) {
    const { next, report } = job.work(conversation, description);
    return next.length > 0 ? { next } : { next, report };
  }
  const todo = todoId === undefined || refused ? {} : { todo_id: todoId };
  return { next: [call("task", { description, subagent_type: "general-purpose", ...todo })] };
}

/** Whether it was the plan that would not have it, so that the helper can be sent without an item. */
function isRefusal(result: string): boolean {
  return !/the sub-agent "|there is no |rejected/.test(result);
}

/** The result of a task without what stands behind it of the plan. */
function withoutRemark(result: string): string {
  const start = result.lastIndexOf("[Todo ");
  const isLast = start >= 0 && result.indexOf("]", start) === result.trimEnd().length - 1;
  return isLast ? result.slice(0, start).trimEnd() : result;
}

function outcomeOf({ args, result, failed }: DoneCall, conversation: Conversation): Outcome {
  if (failed) {
    return {
      next: [],
      problem: reasonIn({ args, result: withoutRemark(result) }),
    };
  }
  const [, path] = /^\[\d+ of \d+ characters left out\. The full text is in "(.+)"\.\]$/m.exec(result) ?? [];
  if (path === undefined) return { next: [], report: result };
  const { lines, next, problem } = readPages(conversation, path);
  if (next) return { next: [next] };
  return problem === undefined ? { next: [], report: lines.join("\n") } : { next: [], problem };
}
