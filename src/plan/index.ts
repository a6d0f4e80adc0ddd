export { PRESET_NAMES, type PresetName, STATUSES, type Status } from "../vocabulary.ts";
export { applyUpdate, applyWrite, type ApplyOptions, type Author } from "./apply/index.ts";
export {
  type Figures,
  diffTodos,
  patchTodos,
  CHECKLIST_POLICY,
  CLASSIC_POLICY,
  LEAN_POLICY,
  type Policy,
  countTodos,
  EMPTY_PLAN,
  isClosed,
  isFinished,
  isOpen,
  type Actuals,
  type Change,
  type Counts,
  type Issue,
  type Plan,
  type Priority,
  type Result,
  type Rule,
  type Todo,
} from "./todo/index.ts";
export {
  parseMarkdown,
  renderMarkdown,
  type MarkdownResult,
  type MarkdownTodo,
  renderMermaid,
  MARKS,
  renderChecklist,
  renderStatus,
} from "./render/index.ts";
export { PRESETS, type Preset, type Reminders } from "./presets/index.ts";
export { TodoManager } from "./todo-manager.ts";
