/** Texts for the model about a call that a person decided on. */
export const CONSENT_TEXTS = {
  rejected: "The user does not allow this {name} call: {reason}",
  rejectedWithoutReason:
    "The user does not allow this {name} call. Do not make it again: find another way, or say what you need it for.",
  responded: "This {name} call was not run. The user says instead: {reason}",
  refused: "This {name} call was not made: {reason}",
  edited: "[The user changed this call before it ran: {changes}]",
};
