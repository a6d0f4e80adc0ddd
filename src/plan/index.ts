export { applyUpdate, applyWrite, type ApplyOptions, type Author } from "./apply/apply.ts";
export { ZERO_TALLY, type Figures, type Mark, type Tally } from "./todo/actuals.ts";
export { type Ledger } from "./todo/ledger.ts";
export { actionable, findCycle, nextStartable, startable, unmetDependencies } from "./todo/dependencies.ts";
export { diffTodos, patchTodos } from "./todo/diff.ts";
export { parseMarkdown, renderMarkdown, type MarkdownResult, type MarkdownTodo } from "./render/markdown.ts";
export { mergeEdit, readEdit, type Conflict, type Merge, type Sides } from "./apply/merge.ts";
export { renderMermaid } from "./render/mermaid.ts";
export { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "./todo/policy.ts";
export {
  PRESET_NAMES,
  PRESETS,
  type Preset,
  type PresetName,
  type Reminders,
  type ToolText,
} from "./presets/presets.ts";
export {
  describeChanges,
  dueReminders,
  type Reminder,
  type ReminderKind,
  type Situation,
} from "./presets/reminders.ts";
export { itemWords, MARKS, renderChecklist, renderSnapshot, renderStatus } from "./render/render.ts";
export { checkTodos } from "./apply/rules.ts";
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
} from "./todo/todo.ts";
