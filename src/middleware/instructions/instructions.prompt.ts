/** In front of instructions from files, in the system prompt. */
export const INSTRUCTIONS = "Follow these instructions; where two disagree, the later one counts.";

/** Told once when they have changed in the middle of a thread. */
export const CHANGED = "The instructions have changed. From now on these count in their place:";
