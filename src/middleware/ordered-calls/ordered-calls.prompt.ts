/** Appended to the system prompt. */
export const ORDERED_CALLS_PROMPT =
  "Calls of one message take effect in the order you give them: edit, then test, in one message.";

/** The result of a call that was withheld. */
export const WITHHELD =
  "Not run: {calls} in front of it in this message did not succeed. Put that right, then call {name} again.";
