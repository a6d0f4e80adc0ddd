export const TITLE_PROMPT =
  "Name the conversation that begins with the following message. Answer with the title alone: at most six words, in the language of the message, no quotes, no full stop.";
