import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command, isGraphBubbleUp } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import pLimit from "p-limit";
import { z } from "zod";
import { diffFiles } from "../files/index.ts";
import { BUDGET_KEY, type Budget } from "../middleware/budget/account.ts";
import { STEP_LIMIT } from "../middleware/budget/options.ts";
import { callId, checkedTool, failure, type ToolRuntime } from "../middleware/loose-tool.ts";
import { OWNER_KEY, ownerOf } from "../middleware/plan/events.ts";
import { idleOf } from "../middleware/plan/mark.ts";
import type { PlanParts } from "../middleware/plan/plan-call/turn.ts";
import { FollowedTodo, lessIdle, type FollowUpdate } from "../middleware/plan/reports/follow.ts";
import { readPlanState } from "../middleware/plan/state.ts";
import { StepControl } from "../middleware/step-control.ts";
import { ZERO_TALLY } from "../plan/index.ts";
import { checkSubagentsOptions } from "./check-options.ts";
import type { SubagentEvent } from "./events.ts";
import type { SubagentsOptions } from "./options.ts";
import { readReport, type Report } from "./report.ts";
import type { CompiledSubagent } from "./spec.ts";
import { TASK_DESCRIPTION, TASK_PLAN } from "./task.prompt.ts";
import { withWorked, workedBefore } from "./worked-before.ts";

const TASK = "task";

/** Gives an agent the `task` tool: it hands a job to a sub-agent with a context of its own. */
export function subagentsMiddleware(options: SubagentsOptions) {
  checkSubagentsOptions(options);
  return createMiddleware({ name: "SubagentsMiddleware", tools: [taskTool(options)] });
}

function taskTool({ subagents, plan, budget, maxConcurrency = 8 }: SubagentsOptions): DynamicStructuredTool {
  const limit = pLimit(maxConcurrency);
  const agents = subagents.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  const base = z.object({ description: z.string().min(1), subagent_type: z.string() });
  const schema = plan ? base.extend({ todo_id: z.coerce.string().optional() }) : base;
  const text = {
    name: TASK,
    description: TASK_DESCRIPTION.replaceAll("{plan}", plan ? TASK_PLAN : "").replaceAll(
      "{agents}",
      () => agents,
    ),
    schema,
  };
  return checkedTool(text, async (args, runtime) => {
    const job: Job = args;
    const subagent = subagents.find(({ name }) => name === job.subagent_type.trim());
    if (!subagent) {
      const names = subagents.map(({ name }) => name).join(", ");
      return failure(
        TASK,
        callId(runtime),
        `there is no sub-agent "${job.subagent_type}"; use one of ${names}.`,
      );
    }
    return limit(() => runJob(subagent, job, { plan, budget, runtime }));
  });
}

interface Job {
  description: string;
  subagent_type: string;
  todo_id?: string | undefined;
}

async function runJob(
  subagent: CompiledSubagent,
  job: Job,
  {
    plan,
    budget,
    runtime,
  }: { plan: PlanParts | undefined; budget: Budget | undefined; runtime: ToolRuntime },
): Promise<Command | ToolMessage> {
  const { name, runnable } = subagent;
  const id = callId(runtime);
  const { state, writer, configurable, signal } = runtime;
  const followed = plan && job.todo_id ? await follow(plan, job.todo_id, runtime) : undefined;
  if (Array.isArray(followed)) return failure(TASK, id, followed.map((issue) => issue.message).join(" "));

  const owner = `${ownerOf({ configurable }, plan?.setup.owner ?? "main")}/${name}:${id}`;
  const tell = (event: Pick<SubagentEvent, "type" | "ok" | "error">): void =>
    writer?.({
      ...event,
      version: 1,
      owner,
      name,
      call: id,
      description: job.description,
      ...(job.todo_id !== undefined && { todoId: job.todo_id }),
      at: Date.now(),
    } satisfies SubagentEvent);
  tell({ type: "subagent-start" });
  // The first look at an invocation is its beginning.
  if (plan) idleOf(plan.setup, readPlanState(state).memory, writer);
  const now = plan?.setup.now ?? Date.now;
  const [began, before] = [now(), await workedBefore(configurable)];

  const { files } = (state ?? {}) as { files?: Record<string, string> };
  const input = { messages: [new HumanMessage(job.description)], ...(files && { files }) };
  let report: Report;
  try {
    const config = { ...runtime.config, ...childConfig(runtime, { owner, budget }) };
    report = readReport(await runnable.invoke(input as never, config as never));
  } catch (error) {
    // Interrupts and the caller's own abort are not the sub-agent's failure.
    if (isGraphBubbleUp(error) || signal?.aborted) throw withWorked(error, before + now() - began);
    const reason = error instanceof Error ? error.message : String(error);
    tell({ type: "subagent-end", ok: false, error: reason });
    const ended = await followed?.end({ ok: false, reason, spent: ZERO_TALLY, before });
    const message = failure(
      TASK,
      id,
      `the sub-agent "${name}" failed: ${reason}.${ended ? ` [${ended.sentence}]` : ""}`,
    );
    return ended ? new Command({ update: { ...ended.update, messages: [message] } }) : message;
  }
  const { text, spent, unfinished } = report;
  tell({
    type: "subagent-end",
    ...(unfinished === undefined ? { ok: true } : { ok: false, error: unfinished }),
  });
  const ended = await followed?.end(
    unfinished === undefined ? { ok: true, spent, before } : { ok: false, reason: unfinished, spent, before },
  );
  const remarks = [
    ...(unfinished === undefined ? [] : [`The sub-agent did not finish: ${unfinished}.`]),
    ...(ended ? [ended.sentence] : []),
  ];
  const content = remarks.length > 0 ? `${text}\n\n[${remarks.join(" ")}]` : text;
  const idle = plan && before > 0 ? lessIdle(readPlanState(state).memory, before) : undefined;
  const update: Partial<FollowUpdate> & { files?: unknown; messages: ToolMessage[] } = {
    ...(ended?.update ?? (idle && { _plan: idle })),
    messages: [new ToolMessage({ content, name: TASK, tool_call_id: id })],
    ...(report.files && { files: returned(files ?? {}, report.files, subagent.ownsFiles ?? false) }),
  };
  return new Command({ update });
}

/**
 * The run of a child: its owner's name, also in the metadata that callbacks and traces see, what it spends from, as
 * many steps as its parent had, whatever that has left, what may stop it half way, and a signal of its own.
 * LangGraph would add listeners to the parent's signal for every child, and Node warns from the eleventh on.
 */
function childConfig(
  runtime: ToolRuntime,
  { owner, budget }: { owner: string; budget: Budget | undefined },
): object {
  const { configurable, config, signal } = runtime;
  // With the parent's checkpoint id LangGraph takes the run for a replay and repeats calls that have finished.
  const { checkpoint_id: _, ...rest } = configurable ?? {};
  return {
    configurable: {
      ...rest,
      ...(budget && { [BUDGET_KEY]: budget.accountOf(runtime) }),
      [OWNER_KEY]: owner,
      __pregel_abort_signals: undefined,
    },
    metadata: { ...config?.metadata, [OWNER_KEY]: owner },
    recursionLimit: STEP_LIMIT,
    ...StepControl.forChild(config?.control),
    ...(signal && { signal: AbortSignal.any([signal]) }),
  };
}

/** An agent of ours returns all its files, so what is missing was deleted; another runnable's files are additions. */
function returned(before: Record<string, string>, after: Record<string, string>, isWhole: boolean) {
  return diffFiles(before, isWhole ? after : { ...before, ...after });
}

async function follow(plan: PlanParts, todoId: string, runtime: ToolRuntime) {
  const { state, writer, configurable, signal } = runtime;
  const id = callId(runtime);
  const { messages = [] } = (state ?? {}) as {
    messages?: { tool_calls?: { name: string; id?: string; args: object }[] }[];
  };
  const turn = messages.findLast((message) => message.tool_calls?.some((call) => call.id === id));
  const followers =
    turn?.tool_calls?.filter((call) => call.name === TASK && "todo_id" in call.args).length ?? 1;
  return FollowedTodo.start(
    plan,
    { id, state, writer, configurable, signal },
    { id: todoId, alone: followers <= 1 },
  );
}

export { isSubagentEvent, type SubagentEvent } from "./events.ts";
export { type CompiledSubagent, type SubagentRunnable } from "./spec.ts";
