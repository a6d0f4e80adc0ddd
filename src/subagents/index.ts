import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command, GraphInterrupt, isGraphInterrupt } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import pLimit from "p-limit";
import { z } from "zod";
import { stepWrites, checkpointerOf, isResuming } from "../langgraph/index.ts";
import { filesBefore } from "../middleware/files/index.ts";
import { idleOf, type PlanParts, FollowedTodo, readPlanState } from "../middleware/plan/index.ts";
import { filled } from "../middleware/text/index.ts";
import { callId, checkedTool, failure, type ToolRuntime } from "../middleware/tools/index.ts";
import { isRecord } from "../plan/read/index.ts";
import { foreign } from "../plan/render/index.ts";
import { conclude, ownerFor, runAssignment, type Assignment, type Outcome } from "./assignment.ts";
import { BACKGROUND_TEXTS, TASK_BACKGROUND } from "./background/background.prompt.ts";
import { Crew } from "./background/crew.ts";
import { backgroundHooks } from "./background/hooks.ts";
import { readBackground } from "./background/state.ts";
import { checkSubagentsOptions } from "./check-options.ts";
import { helpersIn, markFailures, markHelper, titleOf, type HelperMark, type TurnCall } from "./events.ts";
import { conversationAt, startStateFor, type Job } from "./exchange.ts";
import type { SubagentsOptions } from "./spec.ts";
import { TASK_DESCRIPTION, TASK_PLAN } from "./task.prompt.ts";

const TASK = "task";

/**
 * Gives an agent the `task` tool: it hands a job to a sub-agent with a context of its own.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { subagentsMiddleware } from "holdfast";
 *
 * const model = "openai:gpt-5.1";
 * const runnable = createAgent({ model, systemPrompt: "Find sources and quote them." });
 * const researcher = { name: "researcher", description: "Finds sources.", runnable };
 * const agent = createAgent({ model, middleware: [subagentsMiddleware({ subagents: [researcher] })] });
 * ```
 */
export function subagentsMiddleware(options: SubagentsOptions) {
  checkSubagentsOptions(options);
  const { maxConcurrency = 8, background = false } = options;
  const limit = pLimit(maxConcurrency);
  const name = "SubagentsMiddleware";
  if (!background) return createMiddleware({ name, tools: [taskTool(options, limit)] });
  const crew = new Crew(options, limit);
  const { tools, ...hooks } = backgroundHooks(crew);
  return createMiddleware({ name, ...hooks, tools: [taskTool(options, limit, crew), ...tools] });
}

function taskTool(options: SubagentsOptions, limit: Limit, crew?: Crew): DynamicStructuredTool {
  const { subagents, plan, refusal } = options;
  // A list that is echoed as the model sent it has no ids.
  const hasIds = plan !== undefined && plan.setup.preset.result !== "echo";
  const agents = subagents.map(({ name, description }) => `- ${name}: ${foreign(description)}`).join("\n");
  const base = z.object({
    title: z.string().optional(),
    again: z.coerce.string().optional(),
    description: z.string().min(1),
    subagent_type: z.string(),
  });
  const schema = base.extend({
    ...(hasIds && { todo_id: z.coerce.string().optional() }),
    ...(crew && { background: z.boolean().optional() }),
  });
  const remarks = `${hasIds ? TASK_PLAN : ""}${crew ? TASK_BACKGROUND : ""}`;
  const text = {
    name: TASK,
    description: filled(TASK_DESCRIPTION, { plan: remarks, agents }),
    schema,
  };
  return checkedTool(text, async (args, runtime) => {
    const { description, subagent_type, todo_id: todo } = args;
    const call = callId(runtime);
    const before = args.again === undefined ? undefined : await earlierHelper(args.again, runtime);
    if (typeof before === "string") return failure(TASK, call, before);
    const title = titleOf(call, turnCalls(call, runtime.state)) ?? args.title;
    const job: Job = {
      description,
      subagent_type: before?.kind ?? subagent_type,
      ...(args.again !== undefined && { again: args.again }),
      ...(title !== undefined && { title }),
      ...(typeof todo === "string" && { todo_id: todo }),
    };
    if (refusal !== undefined) return failure(TASK, call, refusal);
    const subagent = subagents.find(({ name }) => name === job.subagent_type.trim());
    if (!subagent) {
      const names = subagents.map(({ name }) => name).join(", ");
      return failure(TASK, call, `there is no sub-agent "${job.subagent_type}"; use one of ${names}.`);
    }
    const owner = ownerFor(runtime, job, call, plan?.setup.owner);
    const { state } = runtime;
    const hasFiles = typeof state === "object" && state !== null && "files" in state;
    const current = hasFiles ? { ...state, files: filesBefore(call, runtime) } : state;
    const standing = await plan?.turns.standingBefore(call, state, runtime);
    const start = startStateFor(subagent, job, { state: current, call, before: before?.messages, standing });
    const assignment = { subagent, job, call, owner, start, id: idOf(call, runtime) };
    if (crew && args.background === true) return startJob(assignment, options, { crew, runtime });
    return limit(() => runJob(assignment, options, runtime));
  });
}

/** The kind and the conversation of a sub-agent that is asked again, or the reason why it cannot be. */
async function earlierHelper(
  id: string,
  runtime: ToolRuntime,
): Promise<{ kind: string; messages: BaseMessage[] } | string> {
  const { messages = [] } = (runtime.state ?? {}) as { messages?: BaseMessage[] };
  const helpers = helpersIn(messages);
  const helper = helpers.get(id.trim());
  if (!helper) {
    const ids = [...helpers.keys()].join(", ");
    return `no sub-agent "${id}" can be asked again${ids && `; there are ${ids}`}.`;
  }
  const { kind, ns } = helper;
  if (id in readBackground(runtime.state).jobs) return `${id} is still working.`;
  const conversation = await conversationAt(ns, runtime);
  return conversation ? { kind, messages: conversation } : `nothing is left of what ${id} knew.`;
}

/** The id of a call's sub-agent: its number among all of the thread. Undefined without a checkpointer. */
function idOf(call: string, { state, configurable }: ToolRuntime): string | undefined {
  if (!checkpointerOf(configurable)) return undefined;
  const { messages = [] } = (state ?? {}) as { messages?: { tool_calls?: TurnCall[] }[] };
  const tasks = messages.flatMap(({ tool_calls: calls = [] }) => calls.filter(({ name }) => name === TASK));
  return `t${tasks.findIndex(({ id }) => id === call) + 1}`;
}

/** Runs a function when fewer than the most sub-agents are at work. */
type Limit = <T>(run: () => Promise<T>) => Promise<T>;

/** Starts a job in the background and answers the call at once. */
async function startJob(
  assignment: Assignment,
  { plan }: SubagentsOptions,
  { crew, runtime }: { crew: Crew; runtime: ToolRuntime },
): Promise<Command | ToolMessage> {
  const { call, job } = assignment;
  const { configurable = {}, state } = runtime;
  const followed = plan && job.todo_id ? await follow(plan, job.todo_id, runtime) : undefined;
  if (Array.isArray(followed)) return refused(call, followed);
  const ns = String(configurable["checkpoint_ns"]);
  const isResumed = isResuming(configurable);
  const { count } = readBackground(state);
  // Parallel calls of a turn do not see each other's updates of the count, so ids follow the order of the calls.
  const starts = turnCalls(call, state).filter(({ name, args }) => name === TASK && "background" in args);
  const number = count + 1 + starts.findIndex(({ id }) => id === call);
  const id = `b${number}`;
  crew.begin({ ...assignment, id }, { runtime, ns, isResumed, mayTakeAnswer: false });
  const content = filled(BACKGROUND_TEXTS.started, { id });
  const message = new ToolMessage({ content, name: TASK, tool_call_id: call });
  if (checkpointerOf(configurable)) markHelper(message, markOf(assignment, id, ns));
  return new Command({
    update: {
      ...(await followed?.begun()),
      _background: { count: number, jobs: { [id]: { job, call, ns } } },
      messages: [message],
    },
  });
}

/** Runs a job, and answers the call with its report. */
async function runJob(
  assignment: Assignment,
  { plan, budget, isBare }: SubagentsOptions,
  runtime: ToolRuntime,
): Promise<Command | ToolMessage> {
  const { call, job } = assignment;
  const { state, writer, configurable } = runtime;
  const followed = plan && job.todo_id ? await follow(plan, job.todo_id, runtime) : undefined;
  if (Array.isArray(followed)) return refused(call, followed);
  // The first call in an invocation marks its beginning.
  if (plan) idleOf(plan.setup, readPlanState(state).memory, { writer });
  const now = plan?.setup.now ?? Date.now;
  const [startedAt, before] = [now(), await workedBefore(configurable)];
  let outcome: Outcome;
  try {
    outcome = await runAssignment(assignment, { runtime, budget });
  } catch (error) {
    throw withWorked(error, before + now() - startedAt);
  }
  const elapsedMs = before + now() - startedAt;
  const details = { followed, hasPlan: plan !== undefined, elapsedMs, before, isBare };
  const { text, isError, verdict, failures, update } = await conclude(assignment, outcome, details);
  const message = isError
    ? failure(TASK, call, text)
    : new ToolMessage({ content: text, name: TASK, tool_call_id: call });
  message.artifact = verdict;
  markFailures(message, failures);
  const { id } = assignment;
  const ns = String(configurable?.["checkpoint_ns"]);
  if (id !== undefined) markHelper(message, markOf(assignment, id, ns));
  return new Command({ update: { ...update, messages: [message] } });
}

function markOf({ subagent: { name: kind, model } }: Assignment, id: string, ns: string): HelperMark {
  return { id, kind, ...(model !== undefined && { model }), ns };
}

async function follow(plan: PlanParts, todoId: string, runtime: ToolRuntime) {
  const { state, writer, configurable, signal } = runtime;
  const id = callId(runtime);
  const followers = turnCalls(id, state).filter(
    (call) => call.name === TASK && "todo_id" in call.args,
  ).length;
  return FollowedTodo.start(
    plan,
    { id, state, writer, configurable, signal },
    { id: todoId, alone: followers <= 1, reopens: true },
  );
}

/** All calls of the message with a call. */
function turnCalls(id: string, state: unknown): TurnCall[] {
  const { messages = [] } = (state ?? {}) as { messages?: { tool_calls?: TurnCall[] }[] };
  return messages.findLast((message) => message.tool_calls?.some((call) => call.id === id))?.tool_calls ?? [];
}

function refused(call: string, issues: readonly { message: string }[]): ToolMessage {
  return failure(TASK, call, issues.map(({ message }) => message).join(" "));
}

/** The milliseconds that a job worked in earlier invocations, before it stopped to ask. */
async function workedBefore(configurable: Record<string, unknown> | undefined): Promise<number> {
  if (!configurable || !isResuming(configurable)) return 0;
  const { asked } = await stepWrites(configurable);
  return isRecord(asked) && typeof asked["worked"] === "number" ? asked["worked"] : 0;
}

/** Adds a job's working time to its interrupt: only the interrupt's value is kept of this invocation. */
function withWorked(error: unknown, worked: number): unknown {
  if (!isGraphInterrupt(error)) return error;
  return new GraphInterrupt(
    error.interrupts.map(({ value, ...rest }) => ({
      ...rest,
      value: isRecord(value) ? { ...value, worked } : value,
    })),
  );
}

export { isSubagentEvent, type SubagentEvent, failuresIn, helpersIn, labelOf, titleOf } from "./events.ts";
export type { CompiledSubagent, SubagentsOptions, SubagentTerms } from "./spec.ts";
export { stopJobs } from "./background/registry.ts";
export { readBackground } from "./background/state.ts";
export { sayToWorking, steeringMiddleware } from "./background/working.ts";
export { checkCompiled, CONCURRENCY, SUBAGENT_LIST, TERMS } from "./check-options.ts";
export type { Verdict } from "./report.ts";
export { wholeAnswer } from "./whole-answer.ts";
export {
  FORK_REFUSAL,
  GENERAL_PURPOSE_DESCRIPTION,
  READER_DESCRIPTION,
  READER_PROMPT,
} from "./task.prompt.ts";
