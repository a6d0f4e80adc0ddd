export { copyThread } from "./copy-thread.ts";
export { compactAt, type EarlierMessage, earlierMessages } from "./earlier-messages.ts";
export { fileCallsOf } from "./file-calls.ts";
export { fileChange, type FileChange } from "./file-change.ts";
export { copiesOf, type FileCopies, fileCopies } from "./file-copies.ts";
export { changesOfFiles, changesOnDisk, lineCounts, type NetChange } from "./net-changes.ts";
export { currentTurn, undoLast, type UndoResult, undoneWords } from "./undo-last.ts";
