export { HarnessError, type HarnessErrorCode } from "../errors.ts";
export type { Todo } from "../plan/index.ts";
export { isPlanChangeEvent, type PlanChangeEvent } from "./plan/events.ts";
export { planMiddleware } from "./plan/index.ts";
export type { ExactOptions, PlanOptions, ReminderOptions } from "./plan/options.ts";
export type { EditedTodo, PlanApprovalRequest, PlanDecision } from "./plan/people/approval.ts";
export { workWasDone } from "./plan/plan-call/evidence.ts";
export type { FinishedCall } from "./plan/plan-call/finished-calls.ts";
export type { Verdict, Verifier, VerifyContext } from "./plan/plan-call/verifier.ts";
