/** Descriptions of the tools, for the calling model. */
export const TOOL_TEXTS = {
  run_task:
    "Gives a task to an agent that plans it, works on it with files and sub-agents, and keeps it as a thread. Returns its answer, or what it asks, with the thread's id.",
  continue_task:
    "Goes on with a thread: waits for one at work, takes up one that stopped, or gives a finished one a new message.",
  answer: "Answers what a thread asks, and goes on with it.",
  show_plan: "The plan of a thread, its state, what it asks, and its last answer.",
  edit_plan: "Puts a changed list in the place of a thread's plan, also while it works; the agent is told.",
  list_threads: "Threads with their state and progress, the last used first.",
  cancel: "Stops a thread at work. What has finished is kept: continue_task goes on with it.",
} as const;

export const FIELD_TEXTS = {
  task: "What to do, with all that has to be known",
  thread: "The thread's id",
  message: "What to tell the agent; without it, it goes on where it stopped",
  answer: "approve, reject: reason, or words; a plan can be answered with the list as it should be",
  question: "The id of the question, where there are several",
  plan: "The whole list as Markdown, such as show_plan gives it: keep the #ids of items that stay, and the rules",
  limit: "At most so many",
} as const;

/** Texts about a thread's result, for the calling model. */
export const REPORT_TEXTS = {
  running: "It is still at work. Call continue_task with this thread to wait for it.",
  open: "It has stopped with something left. continue_task goes on.",
  interrupted: "It was stopped; what has finished is kept. continue_task goes on.",
  waiting: "It waits for an answer: ask the user, and call answer with this thread.",
} as const;
