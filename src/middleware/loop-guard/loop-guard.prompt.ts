export const LOOP_WARNING =
  "You made the same tool calls {count} times in a row, with the same results. Try something else, wait longer with a command, or say what stops you; soon the run is ended.";

export const LOOP_STOP =
  "I stopped because I was repeating myself: I was about to call {calls} with the same arguments for the {count}th time in a row without getting further. The task is not finished.";
