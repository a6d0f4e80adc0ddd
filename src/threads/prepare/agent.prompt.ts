/** For a run that nobody watches. */
export const ALONE_PROMPT = "Nobody is there to answer questions: decide, and say what you assumed.";

/** For mode `plan`. */
export const PLAN_MODE_PROMPT =
  "Plan mode: read first, then write the plan. The user approves it before anything is changed, and again whatever leaves it.";
