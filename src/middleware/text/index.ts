export { filled } from "./filled.ts";
export {
  decidedByUser,
  decisionIn,
  hiddenMessage,
  isFromUser,
  saidByUser,
  userWordsIn,
} from "./from-user.ts";
export { defused, fromOutside } from "./outside.ts";
export { quotedText } from "./quoted-text.ts";
export { shortened } from "./shortened.ts";
export { joinedPrompt, withSection } from "./system-prompt.ts";
