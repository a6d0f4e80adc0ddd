/** For a run that nobody watches. */
export const ALONE_PROMPT = "No one can answer questions in this run: decide, and say what you assumed.";

/** For mode `plan`. */
export const PLAN_MODE_PROMPT =
  "Plan mode: read first, then write the plan. The user approves it before anything is changed, and again for every departure from it.";

/** For a forked thread, where its copy ends. */
export const FORKED = {
  disk: "The user forked the conversation here. Later turns are gone, but not their work: files are as they are now, so read before you edit.",
  thread: "The user forked the conversation here. Later turns are gone, and files are as they were here.",
};
