/** Asked of a thread that ended with something left. */
export const CONTINUE = "Go on with the open items of your plan.";
