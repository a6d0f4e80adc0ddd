/** The result of a call that was not finished when its run was stopped, and the user said something new. */
export const NOT_FINISHED = "Not finished: the user stopped the run. It may have had some of its effect.";
