export {
  createDeepAgent,
  type DeepAgentOptions,
  type DefaultMiddlewareName,
  type SubagentSpec,
} from "./deep/index.ts";
export {
  leadAgentGraph,
  makeLeadAgent,
  type LeadGraph,
  type LeadOptions,
  type LeadRequest,
} from "./lead/index.ts";
export type { BudgetOptions } from "./middleware/budget/index.ts";
export { clarificationMiddleware, type ClarificationRequest } from "./middleware/clarification/index.ts";
export {
  consentMiddleware,
  repeatsMiddleware,
  type ConsentDecision,
  type ConsentOptions,
  type ConsentRequest,
  type ConsentRule,
} from "./middleware/consent/index.ts";
export { danglingCallsMiddleware } from "./middleware/dangling-calls/index.ts";
export {
  filesMiddleware,
  type BackendContext,
  type BackendOption,
  type FilesOptions,
} from "./middleware/files/index.ts";
export {
  HarnessError,
  isPlanChangeEvent,
  planMiddleware,
  workWasDone,
  type EditedTodo,
  type FinishedCall,
  type HarnessErrorCode,
  type PlanApprovalRequest,
  type PlanChangeEvent,
  type PlanDecision,
  type PlanOptions,
  type ReminderOptions,
  type Todo,
  type Verdict,
  type Verifier,
  type VerifyContext,
} from "./middleware/index.ts";
export type { InstructionSource } from "./middleware/instructions/index.ts";
export {
  goalMiddleware,
  type GoalContext,
  type GoalJudge,
  type GoalOptions,
  type GoalOutcome,
  type GoalVerdict,
} from "./middleware/goal/index.ts";
export { lightLoop } from "./middleware/light-loop/index.ts";
export { loopGuardMiddleware, type LoopGuardOptions } from "./middleware/loop-guard/index.ts";
export {
  orderedCallsMiddleware,
  type CallOrder,
  type OrderedCallsOptions,
} from "./middleware/ordered-calls/index.ts";
export { type RepeatOptions, type RepeatPolicy, isRepetition } from "./middleware/repeats/index.ts";
export {
  localSandboxProvider,
  sandboxMiddleware,
  type LocalSandboxOptions,
  type Sandbox,
  type SandboxOptions,
  type SandboxProvider,
} from "./middleware/sandbox/index.ts";
export { readRoles, type Role, type RolesOptions, type RolesRead } from "./middleware/roles/index.ts";
export { readSkills, type SkillsRead, type Skill, type SkillSource } from "./middleware/skills/index.ts";
export { summarizationMiddleware, type SummarizationOptions } from "./middleware/summarization/index.ts";
export {
  threadDataMiddleware,
  type ThreadData,
  type ThreadDataOptions,
} from "./middleware/thread-data/index.ts";
export { titleMiddleware, type TitleOptions } from "./middleware/title/index.ts";
export { chooseModel, explainModelError, type ChosenModel, type ChooseModelOptions } from "./models/index.ts";
export {
  isSubagentEvent,
  subagentsMiddleware,
  type CompiledSubagent,
  type SubagentEvent,
  type SubagentsOptions,
} from "./subagents/index.ts";
