import { AIMessage, type ToolMessage } from "@langchain/core/messages";
import {
  Command,
  getConfig,
  isCommand,
  isGraphBubbleUp,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { diffFiles, mergeFiles } from "../../files/backends/index.ts";
import { isResuming, readState } from "../../langgraph/index.ts";
import {
  isFinalAnswer,
  WORK_GOES_ON,
  joinedTodos,
  RECORDS,
  type MemoryUpdate,
} from "../../middleware/plan/index.ts";
import { hiddenMessage } from "../../middleware/text/index.ts";
import { answered } from "../../middleware/tool-errors/index.ts";
import { type ToolRuntime, withUpdate, writesOf } from "../../middleware/tools/index.ts";
import type { Todo } from "../../plan/index.ts";
import { failuresIn, markFailures } from "../events.ts";
import type { Crew, Ended } from "./crew.ts";
import { forgetJobs } from "./registry.ts";
import { backgroundSchema, readBackground } from "./state.ts";
import { BACKGROUND, backgroundTool, failuresOf, reportText, updatesOf } from "./tool.ts";
import { withWords } from "./working.ts";

/**
 * Hooks of the sub-agents' middleware for jobs in the background: reports come with the results of other calls; an
 * agent that would end waits for them, and is called again.
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
      const jobs = crew.muster(runtime);
      // All that the thread does not know of any more have been handed on: no call is under way here.
      if (jobs.size === 0) forgetJobs(runtime);
      try {
        const answer = await handler(request);
        if (jobs.size > 0 && AIMessage.isInstance(answer) && isFinalAnswer(answer)) {
          answer.response_metadata = { ...answer.response_metadata, [WORK_GOES_ON]: true };
        }
        return answer;
      } catch (error) {
        // The run fails: nobody would hear of them.
        if (!isGraphBubbleUp(error)) await Promise.all([...jobs.values()].map((job) => job.stop()));
        throw error;
      }
    },
    wrapToolCall: async <Request extends { toolCall: { id?: string; name: string }; runtime: unknown }>(
      request: Request,
      handler: (request: Request) => Promise<ToolMessage | Command> | ToolMessage | Command,
    ): Promise<ToolMessage | Command> => {
      const result = await answered(request, handler);
      const { id, name } = request.toolCall;
      const runtime = hookRuntime();
      // In a step that is taken up again, another call may have its report already, which is not in the state yet.
      const isTakenUp = isResuming(runtime.configurable);
      const isNone = Object.keys(readBackground(runtime.state).jobs).length === 0;
      if (name === BACKGROUND || isTakenUp || isNone) return result;
      return withReports(result, await crew.collect(crew.muster(runtime), runtime, id), id);
    },
    afterAgent: {
      canJumpTo: ["model" as const],
      hook: async () => {
        const runtime = hookRuntime();
        const jobs = crew.muster(runtime, { isAsking: true });
        if (jobs.size === 0) return undefined;
        await crew.settle(jobs.values());
        // Nobody else hands them on here; what is left comes when the model ends again.
        for (const job of jobs.values()) job.claimedIn = undefined;
        const ended = await crew.collect(crew.together(jobs), runtime);
        const message = hiddenMessage({
          name: "background_reports",
          text: ended.map(reportText).join("\n\n"),
        });
        markFailures(message, failuresOf(ended));
        return { ...joined(ended, runtime.state), messages: [message], jumpTo: "model" as const };
      },
    },
  };
}

/** A tool's runtime for a hook: LangGraph keeps it for the task at hand. A hook gets its own fields of the state. */
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

/** A call's result with the reports that have come meanwhile: at the end of the request, and kept in the thread. */
function withReports(
  result: ToolMessage | Command,
  ended: readonly Ended[],
  call: string | undefined,
): ToolMessage | Command {
  if (ended.length === 0) return result;
  const text = ended.map(reportText).join("\n\n");
  const told = withWords(result, call, text, (message) =>
    markFailures(message, { ...failuresIn(message), ...failuresOf(ended) }),
  );
  const command = isCommand(told) ? told : new Command({ update: { messages: [told] } });
  return withUpdate(command, [...writesOf(command), ...updatesOf(ended)]);
}

/** The changes of several jobs as one update: a hook cannot write to a channel twice. */
function joined(ended: readonly Ended[], state: unknown): Record<string, unknown> {
  const { files: before } = (state ?? {}) as { files?: Record<string, string> };
  const update: Record<string, unknown> = {};
  for (const [channel, value] of updatesOf(ended)) {
    const other = update[channel];
    update[channel] = other === undefined ? value : (JOIN[channel]?.(other, value, before) ?? value);
  }
  return update;
}

const JOIN: Record<string, (a: unknown, b: unknown, files?: Record<string, string>) => unknown> = {
  todos: (a, b) => joinedTodos(a as Todo[], b as Todo[]),
  _plan: (a, b) => {
    const [first, second] = [a as MemoryUpdate, b as MemoryUpdate];
    const records = RECORDS.map((field) => [field, { ...first[field], ...second[field] }] as const);
    return { ...first, ...second, ...Object.fromEntries(records) };
  },
  files: (a, b, before) => diffFiles(before, mergeFiles(mergeFiles(before, a as never), b as never)),
};
