export const CLARIFICATION_DESCRIPTION =
  "Ask the user one question and wait for the answer. Use it when something essential is missing or ambiguous and you cannot find it out yourself; call it alone. options: likely answers.";
