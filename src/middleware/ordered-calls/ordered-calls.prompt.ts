/** Appended to the system prompt. */
export const ORDERED_CALLS_PROMPT =
  "Calls of one message take effect in the order you give them: edit, then test, in one message.";

/** The result of a call that was withheld. */
export const WITHHELD =
  "Not run: {calls} before it in this message failed. Fix that, then call {name} again.";
