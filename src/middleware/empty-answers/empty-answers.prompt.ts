/** Shown once to a model whose answer was empty. */
export const EMPTY_ANSWER = "Your answer was empty. Continue, or report the result.";

export const MISSED_CALL = {
  announced:
    "You said what you will do and called no tool, so nothing was done. Call the tool now, or give your answer.",
  written: "You wrote a tool call as text, so it was not run. Make it as a tool call, or give your answer.",
} as const;
