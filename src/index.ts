export { createDeepAgent } from "./deep/index.ts";
export { type DeepAgentOptions, type DefaultMiddlewareName, type SubagentSpec } from "./deep/options.ts";
export { leadAgentGraph, makeLeadAgent, type LeadGraph } from "./lead/index.ts";
export type { LeadOptions } from "./lead/options.ts";
export type { LeadRequest } from "./lead/request.ts";
export type { BudgetOptions } from "./middleware/budget/options.ts";
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
export { filesMiddleware } from "./middleware/files/index.ts";
export type { BackendContext, BackendOption, FilesOptions } from "./middleware/files/options.ts";
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
export type { InstructionSource } from "./middleware/instructions/options.ts";
export {
  goalMiddleware,
  type GoalContext,
  type GoalJudge,
  type GoalOptions,
  type GoalOutcome,
  type GoalVerdict,
} from "./middleware/goal/index.ts";
export { lightLoop } from "./middleware/light-loop.ts";
export { loopGuardMiddleware, type LoopGuardOptions } from "./middleware/loop-guard/index.ts";
export {
  orderedCallsMiddleware,
  type CallOrder,
  type OrderedCallsOptions,
} from "./middleware/ordered-calls/index.ts";
export type { RepeatOptions, RepeatPolicy } from "./middleware/repeats/options.ts";
export { isRepetition } from "./middleware/repeats/repetition.ts";
export {
  localSandboxProvider,
  sandboxMiddleware,
  type LocalSandboxOptions,
  type Sandbox,
  type SandboxOptions,
  type SandboxProvider,
} from "./middleware/sandbox/index.ts";
export { readRoles, type Role, type RolesOptions, type RolesRead } from "./middleware/roles/read-roles.ts";
export { readSkills, type SkillsRead } from "./middleware/skills/read-skills.ts";
export type { Skill, SkillSource } from "./middleware/skills/skill.ts";
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
} from "./subagents/index.ts";
export type { SubagentsOptions } from "./subagents/spec.ts";
