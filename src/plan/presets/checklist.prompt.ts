/** Appended to the system prompt. */
export const CHECKLIST_SYSTEM_PROMPT = `Use the todo tool for work of three or more steps, for several tasks at once, when first results may change the plan, and when the user asks for a plan; for anything trivial or conversational just act.
Mark a step in_progress before you begin it and completed when it is fully done, one step at a time. Keep steps small and concrete, and drop what became irrelevant.`;

export const CHECKLIST_WRITE_DESCRIPTION =
  "Update the task list: send all items, each call replaces the list. At most 20 items, one in_progress.";

export const CHECKLIST_WRITE_SCHEMA = {
  type: "object",
  properties: {
    items: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          text: { type: "string" },
          status: { type: "string", enum: ["pending", "in_progress", "completed"] },
        },
        required: ["id", "text", "status"],
      },
    },
  },
  required: ["items"],
} as const;

export const CHECKLIST_REMINDERS = {
  contextLoss: "Your todos:\n{plan}",
  exit: "Open todos:\n{open}\nFinish them, or update your todos, before you answer.",
  stale: "Update your todos.",
  edited: "The user changed your todos: {changes}\n{plan}",
};
