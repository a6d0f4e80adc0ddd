/** Descriptions of the tools, for the calling model. */
export const TOOL_TEXTS = {
  run_task:
    "Gives a task to an agent that plans it, works on it with files and sub-agents, and keeps it as a thread. Returns its answer, or what it asks, with the thread's id.",
  continue_task:
    "Continues a thread: waits for a running one, resumes a stopped one, or sends a finished one a new message.",
  answer: "Answers a thread's questions, and continues it.",
  show_plan: "The plan of a thread, its state, what it asks, and its last answer.",
  edit_plan: "Replaces a thread's plan, also while the agent works; the agent is notified.",
  list_threads: "Threads with their state and progress, the last used first.",
  cancel: "Stops a running thread. Finished work is kept: continue_task resumes it.",
} as const;

export const FIELD_TEXTS = {
  task: "What to do, with all that has to be known",
  thread: "The thread's id",
  message: "The message for the agent; without one, the thread resumes where it stopped",
  answer: "approve, reject: reason, or free text; for a plan, you may send the corrected list",
  question: "The id of the question, where there are several",
  plan: "The whole list as Markdown, such as show_plan gives it: keep the #ids of items that stay, and the rules",
  limit: "At most so many",
} as const;

/** Texts about a thread's result, for the calling model. */
export const REPORT_TEXTS = {
  running: "It is still running. Call continue_task with this thread to wait for it.",
  open: "It stopped with work left. continue_task resumes it.",
  interrupted: "It was stopped; finished work is kept. continue_task resumes it.",
  waiting: "It waits for an answer: ask the user, and call answer with this thread.",
} as const;
