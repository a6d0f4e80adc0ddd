export { applyUpdate, applyWrite, type ApplyOptions, type Author } from "./apply/apply.ts";
export { type Figures } from "./todo/actuals.ts";
export { diffTodos, patchTodos } from "./todo/diff.ts";
export { parseMarkdown, renderMarkdown, type MarkdownResult, type MarkdownTodo } from "./render/markdown.ts";
export { renderMermaid } from "./render/mermaid.ts";
export { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "./todo/policy.ts";
export { PRESET_NAMES, PRESETS, type Preset, type PresetName, type Reminders } from "./presets/presets.ts";
export { MARKS, renderChecklist, renderStatus } from "./render/render.ts";
export { TodoManager } from "./todo-manager.ts";
export {
  countTodos,
  EMPTY_PLAN,
  isClosed,
  isFinished,
  isOpen,
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
