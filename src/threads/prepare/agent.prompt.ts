/** For a run that nobody watches. */
export const ALONE_PROMPT = "Nobody is there to answer questions: decide, and say what you assumed.";
