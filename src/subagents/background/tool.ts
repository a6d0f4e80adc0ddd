import { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { z } from "zod";
import { mark } from "../../marks.ts";
import { filled, ownText, shortened } from "../../middleware/text/index.ts";
import { callId, checkedTool, failure, type ToolRuntime } from "../../middleware/tools/index.ts";
import { foreign } from "../../plan/render/index.ts";
import { verdictOf } from "../assignment.ts";
import { labelOf, markFailures, type Failures } from "../events.ts";
import { BACKGROUND_DESCRIPTION, BACKGROUND_TEXTS } from "./background.prompt.ts";
import type { Crew, EndedJob } from "./crew.ts";
import type { BackgroundJob, Settled } from "./job.ts";

export const BACKGROUND = "background";

/** The tool to look at background jobs, wait for them, and cancel them. */
export function backgroundTool(crew: Crew): DynamicStructuredTool {
  const schema = z.object({ action: z.enum(["look", "wait", "cancel"]), id: z.coerce.string().optional() });
  const text = { name: BACKGROUND, description: BACKGROUND_DESCRIPTION, schema };
  return checkedTool(text, async ({ action, id }, runtime) => {
    const call = callId(runtime);
    const jobs = crew.resumeJobs(runtime, { isAsking: action === "wait" });
    if (jobs.size === 0) return answer(call, BACKGROUND_TEXTS.none);
    const chosen = new Map([...jobs].filter(([jobId]) => id === undefined || jobId === id));
    if (chosen.size === 0) {
      const ids = [...jobs.keys()].join(", ");
      return failure(BACKGROUND, call, `there is no background task "${id}"; there are ${ids}.`);
    }
    if (action === "look")
      return answer(call, [...chosen].map(([jobId, job]) => statusLine(jobId, job)).join("\n"));
    return reportsResult(call, await endedBy(action, chosen, { crew, runtime, call }));
  });
}

async function endedBy(
  action: "wait" | "cancel",
  jobs: Map<string, BackgroundJob>,
  { crew, runtime, call }: { crew: Crew; runtime: ToolRuntime; call: string },
): Promise<EndedJob[]> {
  if (action === "wait") {
    await crew.settle(jobs.values());
    return crew.collect(jobs, runtime, call);
  }
  const ended: EndedJob[] = [];
  for (const [id, job] of jobs) ended.push(await crew.cancel(id, job, runtime, call));
  return ended;
}

/** A one-line status of a job for the model. */
function statusLine(id: string, background: BackgroundJob): string {
  const { assignment, settled, startedAt } = background;
  const { subagent, job } = assignment;
  const { spent, text } = background.soFar();
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const about = shortened(job.description);
  const last = spent.modelCalls > 0 ? ` Last: ${shortened(text, 200)}` : "";
  return `${id} ${labelOf(subagent.name, job.title)} (${about}): ${statusOf(settled)}, ${seconds} s, ${spent.modelCalls} model calls.${last}`;
}

function statusOf(settled: Settled | undefined): string {
  if (!settled) return "at work";
  if ("asks" in settled) return "waits for the user";
  if ("stopped" in settled) return "was stopped";
  const { result, reason = "" } = verdictOf(settled);
  return result === "failed" ? `failed: ${shortened(reason, 200)}` : "has ended";
}

function answer(call: string, content: string): ToolMessage {
  return new ToolMessage({ content, name: BACKGROUND, tool_call_id: call });
}

/** A result with the reports of ended jobs and their state updates. */
function reportsResult(call: string, ended: readonly EndedJob[]): Command {
  const text = ended.map(reportText).join("\n\n") || BACKGROUND_TEXTS.told;
  const message = answer(call, text);
  mark(message, ownText(text));
  markFailures(message, failuresOf(ended));
  return new Command({ update: [["messages", [message]], ...updatesOf(ended)] });
}

export function reportText({ id, name, text }: EndedJob): string {
  return filled(BACKGROUND_TEXTS.ended, { id, name: foreign(name), report: foreign(text) });
}

/** The verdicts on jobs that are not done, by the calls that started them. */
export function failuresOf(ended: readonly EndedJob[]): Failures {
  return Object.assign({}, ...ended.map(({ failures }) => failures)) as Failures;
}

/** The state writes for ended jobs, which also remove them from the background jobs. */
export function updatesOf(ended: readonly EndedJob[]): [string, unknown][] {
  const removals = Object.fromEntries(ended.map(({ id }) => [id, null]));
  return [...ended.flatMap(({ update }) => Object.entries(update)), ["_background", { jobs: removals }]];
}
