/** Asked of a thread that ended with something left. */
export const CONTINUE = "Continue with the open items of your plan.";
