export { blindEdit } from "./blind-edit.ts";
export { mergedPlan, PlanConflict, type PlanEdit } from "./merged-plan.ts";
export { INPUT_TASK, planAt, waitingEdit, waitingInput } from "./pending-edit.ts";
export { type BeginEdit, PlanEdits, type Said } from "./plan-edits.ts";
export { editable, planItems, planRules, planText, sentRules } from "./plan-text.ts";
