export { HarnessError, type HarnessErrorCode } from "../errors.ts";
export type { Todo } from "../plan/index.ts";
export {
  isPlanChangeEvent,
  type PlanChangeEvent,
  planMiddleware,
  type ExactOptions,
  type PlanOptions,
  type ReminderOptions,
  type EditedTodo,
  type PlanApprovalRequest,
  type PlanDecision,
  workWasDone,
  type FinishedCall,
  type Verdict,
  type Verifier,
  type VerifyContext,
} from "./plan/index.ts";
