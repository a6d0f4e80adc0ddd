/** Asked of a thread that ended with something left. */
export const GO_ON = "Go on with the open items of your plan.";
