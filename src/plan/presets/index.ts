export { LEAN_FINAL_ANSWER, LEAN_REPORTS } from "./lean.prompt.ts";
export {
  EXIT_REMINDERS,
  PLAN_TOOLS,
  type Preset,
  PRESETS,
  REMINDER_NAMES,
  type Reminders,
  type ToolText,
} from "./presets.ts";
export { describeChanges, dueReminders, type Reminder, type Situation } from "./reminders.ts";
