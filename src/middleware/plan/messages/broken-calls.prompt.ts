/** Shown once to a model whose tool calls could not be read. */
export const BROKEN_CALL = {
  malformed: "Not run: the arguments of your call to {tools} were not valid JSON{where}. Call it again.",
  deep: "Not run: the arguments of your call to {tools} are nested too deep. Call it again with flatter ones.",
  cut: "Not run: your call to {tools} was cut off at the output limit, so its arguments may be incomplete. Call it again with less in it, and do the rest in further calls.",
} as const;

/** Shown to a model whose answer ended at the output limit. */
export const HALF_ANSWER =
  "Your answer was cut off at the output limit. Continue exactly where it ends, and repeat nothing.";
