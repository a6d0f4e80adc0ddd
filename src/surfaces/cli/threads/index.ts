export { directoryName, existingFolder, isHere } from "./directories.ts";
export { editInEditor, editorOf } from "./external-editor.ts";
export { conflictLines, editPlanText, planText } from "./plan-conflict.ts";
export { settingsOf, withThread } from "./thread-agent.ts";
export { threadFile, threadText, writeNew } from "./thread-file.ts";
export {
  checkThreadId,
  copiesFolder,
  databaseUrl,
  existingState,
  findThread,
  historyFile,
  MANY,
  maskedUrl,
  shownState,
  type StateFlags,
  statePath,
  withHome,
  withSaver,
} from "./threads.ts";
