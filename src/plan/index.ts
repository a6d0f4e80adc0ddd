export { applyUpdate, applyWrite, type ApplyOptions, type Author } from "./apply.ts";
export { chargeActuals, ZERO_TALLY, type Mark, type Tally } from "./actuals.ts";
export { actionable, findCycle, nextStartable, startable, unmetDependencies } from "./dependencies.ts";
export { diffTodos, patchTodos } from "./diff.ts";
export { parseMarkdown, renderMarkdown, type MarkdownResult, type MarkdownTodo } from "./markdown.ts";
export { mergeEdit, readEdit, type Conflict, type Merge, type Sides } from "./merge.ts";
export { renderMermaid } from "./mermaid.ts";
export { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "./policy.ts";
export {
  PRESET_NAMES,
  PRESETS,
  type Preset,
  type PresetName,
  type Reminders,
  type ToolText,
} from "./presets.ts";
export {
  describeChanges,
  dueReminders,
  type Reminder,
  type ReminderKind,
  type Situation,
} from "./reminders.ts";
export { MARKS, renderChecklist, renderSnapshot, renderStatus } from "./render.ts";
export { checkTodos } from "./rules.ts";
export { TodoManager } from "./todo-manager.ts";
export {
  countTodos,
  EMPTY_PLAN,
  isClosed,
  isFinished,
  isOpen,
  PRIORITIES,
  STATUSES,
  type Actuals,
  type Change,
  type Counts,
  type Issue,
  type Plan,
  type Priority,
  type Result,
  type Rule,
  type Status,
  type Todo,
} from "./todo.ts";
