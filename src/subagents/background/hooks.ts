import { AIMessage } from "@langchain/core/messages";
import {
  Command,
  getConfig,
  isCommand,
  isGraphBubbleUp,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { diffFiles, mergeFiles } from "../../files/backends/index.ts";
import { isResuming, readState } from "../../langgraph/index.ts";
import { markMetadata } from "../../marks.ts";
import { isFinalAnswer, joinedTodos, RECORDS, type MemoryUpdate } from "../../middleware/plan/index.ts";
import { hiddenMessage } from "../../middleware/text/index.ts";
import { answered } from "../../middleware/tool-errors/index.ts";
import { type CallResult, type ToolRuntime, withUpdate, writesOf } from "../../middleware/tools/index.ts";
import type { Todo } from "../../plan/index.ts";
import { failuresIn, markFailures } from "../events.ts";
import type { Crew, EndedJob } from "./crew.ts";
import { forgetJobs } from "./registry.ts";
import { backgroundSchema } from "./state.ts";
import { BACKGROUND, backgroundTool, failuresOf, reportText, updatesOf } from "./tool.ts";
import { withWords } from "./working.ts";

/**
 * Hooks of the sub-agents' middleware for jobs in the background. Reports come with the results of other calls. An agent
 * that would end waits for its jobs, and is called again.
 */
export function backgroundHooks(crew: Crew) {
  const hookRuntime = (): ToolRuntime => runtimeOf(crew.fields);
  return {
    stateSchema: backgroundSchema(),
    tools: [backgroundTool(crew)],
    wrapModelCall: async <Request, Answer>(
      request: Request,
      handler: (request: Request) => Answer | Promise<Answer>,
    ): Promise<Answer> => {
      const runtime = hookRuntime();
      const jobs = crew.resumeJobs(runtime);
      // No call is running here, so all jobs that are not in the state any more have been reported.
      if (jobs.size === 0) forgetJobs(runtime);
      try {
        const answer = await handler(request);
        if (jobs.size > 0 && AIMessage.isInstance(answer) && isFinalAnswer(answer)) {
          markMetadata(answer, { holdfast_work_goes_on: true });
        }
        return answer;
      } catch (error) {
        // The run fails, so no one would get the reports.
        if (!isGraphBubbleUp(error)) await Promise.all([...jobs.values()].map((job) => job.stop()));
        throw error;
      }
    },
    wrapToolCall: async <Request extends { toolCall: { id?: string; name: string }; runtime: unknown }>(
      request: Request,
      handler: (request: Request) => Promise<CallResult> | CallResult,
    ): Promise<CallResult> => {
      const result = await answered(request, handler);
      const { id, name } = request.toolCall;
      const runtime = hookRuntime();
      // In a resumed step another call may have reported a job already, which is not in the state yet.
      if (name === BACKGROUND || isResuming(runtime.configurable)) return result;
      return withReports(result, await crew.collect(crew.resumeJobs(runtime), runtime, id), id);
    },
    afterAgent: {
      canJumpTo: ["model" as const],
      hook: async () => {
        const runtime = hookRuntime();
        const jobs = crew.resumeJobs(runtime, { isAsking: true });
        if (jobs.size === 0) return undefined;
        await crew.settle(jobs.values());
        // No other call can report them here. Conflicting jobs are reported when the model ends again.
        for (const job of jobs.values()) job.claimedIn = undefined;
        const ended = await crew.collect(crew.withoutConflicts(jobs), runtime);
        const message = hiddenMessage({
          name: "background_reports",
          text: ended.map(reportText).join("\n\n"),
        });
        markFailures(message, failuresOf(ended));
        return { ...mergedUpdate(ended, runtime.state), messages: [message], jumpTo: "model" as const };
      },
    },
  };
}

/** A tool runtime for a hook, from LangGraph's current task. A hook itself gets only its own fields of the state. */
function runtimeOf(fields: readonly string[]): ToolRuntime {
  const config = getConfig() as LangGraphRunnableConfig & ToolRuntime["config"];
  const { configurable = {}, writer, signal } = config;
  return {
    state: readState(configurable, fields),
    config,
    configurable,
    ...(writer && { writer }),
    ...(signal && { signal }),
  };
}

/** Appends reports to a call's result, so that they are at the end of the request and stay in the thread. */
function withReports(result: CallResult, ended: readonly EndedJob[], call: string | undefined): CallResult {
  if (ended.length === 0) return result;
  const text = ended.map(reportText).join("\n\n");
  const longer = withWords(result, call, text, (message) =>
    markFailures(message, { ...failuresIn(message), ...failuresOf(ended) }),
  );
  const command = isCommand(longer) ? longer : new Command({ update: { messages: [longer] } });
  return withUpdate(command, [...writesOf(command), ...updatesOf(ended)]);
}

/** Merges the updates of several jobs: a hook cannot write to a channel twice. */
function mergedUpdate(ended: readonly EndedJob[], state: unknown): Record<string, unknown> {
  const { files: before } = (state ?? {}) as { files?: Record<string, string> };
  const update: Record<string, unknown> = {};
  for (const [channel, value] of updatesOf(ended)) {
    const other = update[channel];
    update[channel] = other === undefined ? value : (MERGE[channel]?.(other, value, before) ?? value);
  }
  return update;
}

const MERGE: Record<string, (a: unknown, b: unknown, files?: Record<string, string>) => unknown> = {
  todos: (a, b) => joinedTodos(a as Todo[], b as Todo[]),
  _plan: (a, b) => {
    const [first, second] = [a as MemoryUpdate, b as MemoryUpdate];
    const records = RECORDS.map((field) => [field, { ...first[field], ...second[field] }] as const);
    return { ...first, ...second, ...Object.fromEntries(records) };
  },
  files: (a, b, before) => diffFiles(before, mergeFiles(mergeFiles(before, a as never), b as never)),
};
