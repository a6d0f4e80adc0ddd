import type { BaseMessage } from "@langchain/core/messages";
import { createMiddleware, todoListMiddleware } from "langchain";
import { taskInputOf } from "../../langgraph/index.ts";
import { type Todo } from "../../plan/index.ts";
import { dueReminders } from "../../plan/presets/index.ts";
import { coveredBy, readContext } from "../context-memory/index.ts";
import { hiddenMessage } from "../text/index.ts";
import { checkPlanOptions, EXACT_OPTIONS } from "./check-options.ts";
import type { Stage } from "./events.ts";
import { isPlanVisible } from "./messages/visibility.ts";
import { callModel } from "./model-call/call-model.ts";
import type { ExactOptions, ExactTodo, PlanOptions, StatusOf } from "./options.ts";
import { askApproval } from "./people/approval.ts";
import { planTools } from "./plan-call/tools.ts";
import { Turns, type PlanParts } from "./plan-call/turn.ts";
import { setupPlan } from "./setup.ts";
import { planStateSchema, readPlanState } from "./state.ts";

export { PLAN_OPTIONS } from "./check-options.ts";
export { isPlanChangeEvent, ownerOf, callMetadata, type PlanChangeEvent } from "./events.ts";
export { figuresIn, idleOf, sumTallies, tallyOf } from "./ledger.ts";
export { repairCalls, UnreadCalls, withUnreadCalls } from "./messages/broken-calls.ts";
export { asksBack, BUDGET_REASON, isAwaitingUser, isCutOff, isFinalAnswer } from "./messages/final-answer.ts";
export { HalfAnswer } from "./messages/half-answer.ts";
export { sentBackAt } from "./model-call/called-back.ts";
export type { ModelRequest } from "./model-call/request.ts";
export { keepFinishReason } from "./model-call/finish-reasons.ts";
export { type Send, watchedModel } from "./model-call/watched-model.ts";
export type { ExactOptions, PlanOptions, ReminderOptions } from "./options.ts";
export {
  type EditedTodo,
  isApproved,
  type PlanApprovalRequest,
  type PlanDecision,
  PROPOSED,
} from "./people/approval.ts";
export { workWasDone } from "./plan-call/evidence.ts";
export type { FinishedCall } from "./plan-call/finished-calls.ts";
export { filesIn } from "./plan-call/item-words.ts";
export type { PlanParts, Standing } from "./plan-call/turn.ts";
export type { Verdict, Verifier, VerifyContext } from "./plan-call/verifier.ts";
export { COMPLETION_REFUSAL, type CompletionRefusal } from "./plan-call/verify.ts";
export { FollowedTodo } from "./reports/follow.ts";
export { rememberRemoved } from "./seen.ts";
export { ASK_TOOLS } from "./setup.ts";
export {
  joinedTodos,
  keptPlanSchema,
  type MemoryUpdate,
  type PlanMemory,
  readPlanState,
  RECORDS,
} from "./state.ts";

/**
 * Gives an agent a plan: tools to write and update it, `todos` in the graph state, rules that are enforced, and
 * reminders. Works alone or anywhere among other middleware. Adds no graph step, unless `approval` or a
 * persistent reminder needs one.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { planMiddleware } from "holdfast";
 *
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [planMiddleware({ preset: "lean" })] });
 * const { todos } = await agent.invoke({ messages: "Compare three web frameworks" });
 * ```
 */
export function planMiddleware(options: ExactOptions): ReturnType<typeof planMiddlewareOf<ExactTodo>>;
export function planMiddleware<const Options extends PlanOptions = PlanOptions>(
  options?: Options,
): ReturnType<typeof planMiddlewareOf<Todo<StatusOf<Options>>>>;
export function planMiddleware(options: ExactOptions | PlanOptions = {}): unknown {
  // Both branches check the options.
  if (!isExact(options)) return planMiddlewareOf(planParts(options));
  checkPlanOptions(options, EXACT_OPTIONS);
  return todoListMiddleware(options);
}

function isExact(options: ExactOptions | PlanOptions): options is ExactOptions {
  return (options as Partial<ExactOptions> | null)?.exact !== undefined;
}

/** The parts of `planMiddlewareOf`, for a harness with other parts that work with the plan. */
export function planParts(options: PlanOptions = {}): PlanParts {
  const setup = setupPlan(options);
  return { setup, turns: new Turns(setup) };
}

/** Creates the middleware of a plan that is already set up. */
export function planMiddlewareOf<Item extends ExactTodo | Todo = Todo>(parts: PlanParts) {
  const { setup } = parts;
  const { policy, reminders } = setup.preset;
  return createMiddleware({
    name: "PlanMiddleware",
    stateSchema: planStateSchema<Item>(policy),
    tools: planTools(parts),
    wrapModelCall: (request, handler) => callModel(parts, request, handler),
    ...(reminders.persist &&
      reminders.contextLoss && {
        beforeModel: (state: unknown, { configurable }: Stage) => {
          const { messages } = state as { messages: BaseMessage[] };
          const isVisible = isPlanVisible(sentMessages(messages, configurable), setup);
          const { todos, rules } = readPlanState(state);
          const situation = { todos, rules, edits: [], rounds: 0, nags: 0, exits: 0, answered: false };
          const due = dueReminders({ ...situation, visible: isVisible }, reminders);
          return due.length > 0 ? { messages: due.map(hiddenMessage) } : undefined;
        },
      }),
    ...(setup.approval !== "never" && {
      afterModel: {
        canJumpTo: ["model" as const],
        hook: (state: unknown) => askApproval(setup, state as Parameters<typeof askApproval>[1]),
      },
    }),
  });
}

/**
 * The messages of a thread that no summary covers. The request itself shows which results are left out besides. Reads
 * the task's input, because a hook gets only the fields of its own middleware.
 */
function sentMessages(messages: readonly BaseMessage[], configurable: Stage["configurable"]): BaseMessage[] {
  return messages.slice(coveredBy(readContext(taskInputOf(configurable)).summary, messages));
}
