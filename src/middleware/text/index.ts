export { filled } from "./filled.ts";
export { decidedByUser, hiddenMessage, isFromUser, reminderMessage, userWordsIn } from "./from-user.ts";
export { defused, fromOutside, quotedText } from "./outside.ts";
export { ownPartOf, ownText } from "./own-words.ts";
export { textOf } from "./text-of.ts";
export { shortened } from "./shortened.ts";
export { joinedPrompt, withSection } from "./system-prompt.ts";
