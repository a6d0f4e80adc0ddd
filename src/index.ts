export { HarnessError, type HarnessErrorCode } from "./errors.ts";
export { planMiddleware } from "./middleware/plan/index.ts";
export type { PlanApprovalRequest, PlanDecision } from "./middleware/plan/approval.ts";
export { isPlanChangeEvent, type PlanChangeEvent } from "./middleware/plan/events.ts";
export type { PlanOptions, ReminderOptions } from "./middleware/plan/options.ts";
export { workWasDone, type Verdict, type Verifier, type VerifyContext } from "./middleware/plan/verify.ts";
export type { Todo } from "./plan/index.ts";
