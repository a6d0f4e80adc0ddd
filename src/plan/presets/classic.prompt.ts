/** Appended to the system prompt. */
export const CLASSIC_SYSTEM_PROMPT = `## Planning with \`write_todos\`

\`write_todos\` holds your plan for the current job, and the user watches it to see what you are doing.

Plan when the job is large: break it into steps, write them down, then work through them. When a request takes only a step or two, skip the plan and do the work; a plan costs time and tokens.

While you work:
- Mark a step \`completed\` the moment it is finished. Never save up several completions for later.
- Revise the plan when you learn something: add the steps you discover, take out those that no longer make sense.
- Send \`write_todos\` once per turn at most. Every call replaces the whole list, so two in one turn would contradict each other.`;

export const CLASSIC_WRITE_DESCRIPTION = `Writes the plan for the current job: the complete list of steps with their states. Each call replaces the previous list.

## When to plan
- The job needs three or more distinct steps, or careful thought about their order.
- The user asks for a plan, or hands you several things to do at once.
- The first results may change what comes next, so the plan will need revising.

## When not to plan
- There is one straightforward thing to do, or fewer than three trivial steps.
- The request is conversational or asks for information only.
- Tracking would not help anyone. If you already know the few calls it takes, just make them.

## States
- pending: not started.
- in_progress: being worked on now. Several may be, if they are independent and really run side by side.
- completed: finished, successfully.

## Keeping the plan
- Mark a step in_progress before you begin it; when you write a new plan, mark its first step at once.
- Mark it completed as soon as it is finished, and the next one in_progress in the same call.
- Until everything is completed, at least one step is in_progress.
- Finish what you began before you begin something else.
- Remove steps that became irrelevant. Add follow-up work when you find it. Leave completed steps as they are.

## When a step is complete
Only when all of it is done. It is not complete while
- errors are unresolved or tests fail,
- part of the work is missing,
- the result is not as good as the job demands,
- something you need could not be found, or
- you are blocked. In that case keep it in_progress and add a step that says what has to be resolved.

## Good steps
Specific and actionable, small enough to finish in one go, named so that a reader knows what will be done.`;

export const CLASSIC_WRITE_SCHEMA = {
  type: "object",
  properties: {
    todos: {
      type: "array",
      items: {
        type: "object",
        properties: {
          content: { type: "string", description: "Content of the todo item" },
          status: {
            type: "string",
            enum: ["pending", "in_progress", "completed"],
            description: "Status of the todo",
          },
        },
        required: ["content", "status"],
        additionalProperties: false,
      },
      description: "List of todo items to update",
    },
  },
  required: ["todos"],
  additionalProperties: false,
} as const;

export const CLASSIC_REMINDERS = {
  contextLoss:
    "Your todo list from earlier is no longer visible, but it is still in force:\n\n{plan}\n\nKeep working on it and keep it up to date with write_todos.",
  exit: "You are about to finish, but the todo list still has open items:\n\n{open}\n\nComplete them and mark them with write_todos. Answer only when nothing is left.",
  stale: "The todo list has not changed for a while. {status} Bring it up to date with write_todos.",
  edited: "The user changed the todo list: {changes}\n\nIt now reads:\n\n{plan}",
};
