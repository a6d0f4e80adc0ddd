/** Texts about a call that may have been carried out before. */
export const REPEAT_TEXTS = {
  /** The model, in place of a result. */
  unknown:
    "This {name} call was interrupted: it may or may not have had its effect. It was not run again. Find out what it has done before you make it again.",
  /** The model and people, of a call that was not run again. */
  ran: "It had run for {time} when the run was stopped.",
  printed: "It had run for {time} when the run was stopped, and had printed:\n{printed}",
  begun: "It was interrupted when the run stopped, and may have had its effect.",
  /** The model, in front of the error of a call that was run again. */
  failed: "[This call was interrupted once before and may have had its effect then.]",
  /** A person who is asked about the call. */
  question:
    "This call was interrupted when the run stopped. It may have had its effect already; if you allow it, it runs again.",
  /** A person whose answer came before the call was run. */
  earlierAnswer: "That answer was given before the call was run. Answer this question by its interrupt's id.",
};
