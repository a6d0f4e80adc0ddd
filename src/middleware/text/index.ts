export {
  decidedByUser,
  decisionIn,
  hiddenMessage,
  isFromUser,
  reminderMessage,
  saidByUser,
  userWordsIn,
} from "./from-user.ts";
export { defused, fromOutside, quotedText } from "./outside.ts";
export { shortened } from "./shortened.ts";
export { joinedPrompt, withSection } from "./system-prompt.ts";

/** Fills in the `{names}` of a template. Names without a value stay. */
export function filled(template: string, values: Record<string, string | number>): string {
  return template.replaceAll(/\{(\w+)\}/g, (match, name: string) => String(values[name] ?? match));
}
