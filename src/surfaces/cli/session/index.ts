export { answerFor, type Asker } from "./consent.ts";
export type { SessionModel } from "./conversation.ts";
export { displayFor, type LiveDisplay, type LiveDisplayOptions } from "./display/live-display.ts";
export { settingsToContinue } from "./modes.ts";
export { History } from "./prompt/history.ts";
export type { Suggestion } from "./prompt/suggestions.ts";
export { Session } from "./session.ts";
export { SLASH_COMMANDS } from "./slash.ts";
