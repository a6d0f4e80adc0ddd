/** Shown once to a model whose answer was empty. */
export const EMPTY_ANSWER = "Your answer was empty. Go on, or say what came of it.";
