import { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import pLimit from "p-limit";
import { z } from "zod";
import { callId, checkedTool, failure, type ToolRuntime } from "../middleware/loose-tool.ts";
import { idleOf } from "../middleware/plan/mark.ts";
import type { PlanParts } from "../middleware/plan/plan-call/turn.ts";
import { FollowedTodo, lessIdle } from "../middleware/plan/reports/follow.ts";
import { readPlanState } from "../middleware/plan/state.ts";
import { carryOut, conclude, ownerFor, type Assignment, type Outcome } from "./assignment.ts";
import { checkSubagentsOptions } from "./check-options.ts";
import { givenTo, type Job } from "./exchange.ts";
import type { SubagentsOptions } from "./options.ts";
import { TASK_DESCRIPTION, TASK_PLAN } from "./task.prompt.ts";
import { withWorked, workedBefore } from "./worked-before.ts";

const TASK = "task";

/** Gives an agent the `task` tool: it hands a job to a sub-agent with a context of its own. */
export function subagentsMiddleware(options: SubagentsOptions) {
  checkSubagentsOptions(options);
  return createMiddleware({ name: "SubagentsMiddleware", tools: [taskTool(options)] });
}

function taskTool(options: SubagentsOptions): DynamicStructuredTool {
  const { subagents, plan, maxConcurrency = 8, refusal } = options;
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
    const call = callId(runtime);
    if (refusal !== undefined) return failure(TASK, call, refusal);
    const subagent = subagents.find(({ name }) => name === job.subagent_type.trim());
    if (!subagent) {
      const names = subagents.map(({ name }) => name).join(", ");
      return failure(TASK, call, `there is no sub-agent "${job.subagent_type}"; use one of ${names}.`);
    }
    const owner = ownerFor(runtime, subagent.name, call, plan?.setup.owner);
    const given = givenTo(subagent, job, { state: runtime.state, call });
    return limit(() => runJob({ subagent, job, call, owner, given }, options, runtime));
  });
}

/** Waits for a job, and answers the call with its report. */
async function runJob(
  assignment: Assignment,
  { plan, budget }: SubagentsOptions,
  runtime: ToolRuntime,
): Promise<Command | ToolMessage> {
  const { call, job } = assignment;
  const { state, writer, configurable } = runtime;
  const followed = plan && job.todo_id ? await follow(plan, job.todo_id, runtime) : undefined;
  if (Array.isArray(followed)) return failure(TASK, call, followed.map((issue) => issue.message).join(" "));

  // The first look at an invocation is its beginning.
  if (plan) idleOf(plan.setup, readPlanState(state).memory, writer);
  const now = plan?.setup.now ?? Date.now;
  const [began, before] = [now(), await workedBefore(configurable)];
  let outcome: Outcome;
  try {
    outcome = await carryOut(assignment, { runtime, budget });
  } catch (error) {
    throw withWorked(error, before + now() - began);
  }
  const { text, isError, update } = await conclude(assignment, outcome, { followed, before });
  const message = isError
    ? failure(TASK, call, text)
    : new ToolMessage({ content: text, name: TASK, tool_call_id: call });
  const idle =
    plan && !followed && before > 0 ? { _plan: lessIdle(readPlanState(state).memory, before) } : {};
  return new Command({ update: { ...idle, ...update, messages: [message] } });
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
