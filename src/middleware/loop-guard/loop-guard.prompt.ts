export const LOOP_WARNING =
  "You made the same tool calls {count} times in a row. The results will not change: try something else, or say what stops you.";

export const LOOP_STOP =
  "I stopped because I was repeating myself: I was about to call {calls} with the same arguments for the {count}th time in a row without getting further. The task is not finished.";
