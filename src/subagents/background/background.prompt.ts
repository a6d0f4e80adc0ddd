/** Added to the description of the `task` tool where sub-agents may work in the background. */
export const TASK_BACKGROUND =
  " background: true returns at once with an id: continue with other work. Its report arrives by itself, with a later tool result or when you have nothing left to do.";

export const BACKGROUND_DESCRIPTION =
  "Sub-agents in the background: look (what they are doing), wait (for their reports), cancel. id: one of them; default all.";

/** Texts for the model about jobs in the background. */
export const BACKGROUND_TEXTS = {
  started: "Started in the background as {id}.",
  ended:
    "<system_reminder>The background task {id} ({name}) has ended. Its report:\n{report}</system_reminder>",
  cancelled: "it was cancelled",
  said: "<system_reminder>The user says to you: {note}</system_reminder>",
  unread: "[The user said this to it, which it did not read: {note}]",
  told: "Their reports came with the other results of this turn.",
  none: "There is no background task.",
};
