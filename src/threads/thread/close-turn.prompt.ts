/** The result of a call that was not finished when its run was stopped, and the user said something new. */
export const NOT_FINISHED = "Not finished: the user stopped the run. It may have had some of its effect.";

/** The same for a call whose consent was asked for, and for those that waited behind it. */
export const NOT_BEGUN = "Not run: the user stopped the run at the question whether to allow it.";
