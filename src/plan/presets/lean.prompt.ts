/** The last line of the prompt, by what the policy lets a final answer do. */
export const LEAN_FINAL_ANSWER = {
  complete:
    "Your final answer completes the last item; before it, all others are done, blocked or cancelled.",
  leave: "Before your final answer every item is done, blocked or cancelled.",
} as const;

/** Instructions for reports, by the way of reporting. */
export const LEAN_REPORTS = {
  call: "Once an item is done, call update_todos in the same turn as your next work call.",
  inline: "Once an item is done, give its id as todo_done in your next call of any tool.",
} as const;

/** Appended to the system prompt. */
export const LEAN_SYSTEM_PROMPT = `## Plan
3 or more steps, several tasks, results that may change what follows, or asked to plan: look first if you must, then plan. Else none.
Items are small steps. The first starts by itself; completing one starts the next.
${LEAN_REPORTS.call}
Done means fully done. Stuck: block with a note. Add what you discover, cancel what is pointless.
${LEAN_FINAL_ANSWER.complete}`;

export const LEAN_WRITE_DESCRIPTION =
  "Set the plan. Ids count from 1. after: ids it waits for. rules: conditions no item holds.";

export const LEAN_WRITE_SCHEMA = {
  type: "object",
  properties: {
    todos: {
      type: "array",
      items: {
        anyOf: [
          { type: "string" },
          {
            type: "object",
            properties: {
              content: { type: "string" },
              after: { type: "array", items: { type: "integer" } },
              priority: { type: "string", enum: ["high", "medium", "low"] },
              estimate: { type: "number", description: "minutes" },
            },
            required: ["content"],
          },
        ],
      },
    },
    rules: { type: "array", items: { type: "string" } },
  },
  required: ["todos"],
} as const;

export const LEAN_UPDATE_DESCRIPTION =
  '{"done":"1,2"}. block: "3: reason". order: open ids. edit.before: id to move to.';

const TEXT = { type: "string" } as const;

export const LEAN_UPDATE_SCHEMA = {
  type: "object",
  properties: {
    done: TEXT,
    start: TEXT,
    cancel: TEXT,
    block: TEXT,
    add: { type: "array", items: TEXT },
    // More fields are understood than are named here.
    edit: { type: "array", items: { type: "object", properties: { id: TEXT, content: TEXT, before: TEXT } } },
    order: TEXT,
  },
} as const;

const EXIT_WAYS =
  "cancel, or block with the reason, such as a decision that only the user can take. Then give your whole answer.";

export const LEAN_REMINDERS = {
  contextLoss: "Your plan stands at:\n{plan}\nContinue where you can; update_todos works on these ids.",
  exit: `Not finished: these items are still open.\n{open}\nDo what is left of them. Then call update_todos for each: done, ${EXIT_WAYS}`,
  exitAgain: `Still open:\n{open}\nCall update_todos for each: done if it is, ${EXIT_WAYS}`,
  stale: "Plan check: {status} Update it if that is out of date.",
  edited: "The user changed your plan: {changes}",
};
