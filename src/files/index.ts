export type {
  ExecuteOptions,
  Execution,
  Failure,
  FailureReason,
  FileBackend,
  FileEntry,
  FileResult,
  GrepFile,
  GrepLine,
  GrepOutput,
  GrepQuery,
  GrepResult,
  SearchScope,
  TextEdit,
} from "./backend/backend.ts";
export { compositeBackend } from "./backends/composite.ts";
export { createBackend } from "./backends/create.ts";
export { diskBackend, type DiskOptions } from "./disk/index.ts";
export type { FileChange } from "./backends/file-table.ts";
export { FROZEN_FILES } from "./backends/read-only-files.ts";
export { renderGrep } from "./search/grep.ts";
export { diffFiles, mergeFiles, type FilesUpdate } from "./text/merge-files.ts";
export { mergeText, type MergedText } from "./text/merge-text.ts";
export { numberLines, type LinePage } from "./text/number-lines.ts";
export { preview, type PreviewOptions } from "./text/offload.ts";
export type { FileOperations, WalkOptions } from "./search/operations.ts";
export { parsePath } from "./paths/paths.ts";
export {
  checkPermission,
  type FileAction,
  type Permission,
  type PermissionRule,
} from "./paths/permissions.ts";
export { replaceText } from "./text/replace-text.ts";
export { sandboxBackend, type RemoteSandbox, type RemoteSandboxOptions } from "./backends/sandbox.ts";
export { bubblewrapWorks } from "./shell/isolation/bubblewrap.ts";
export type { CommandLimits } from "./shell/isolation/limits.ts";
export { isIsolated, shellBackend, type ShellOptions } from "./shell/index.ts";
export type { Isolation } from "./shell/isolation/isolations.ts";
export { renderExecution, type CommandOptions } from "./shell/run-command.ts";
export { stateFiles, type StateBackend } from "./backends/state.ts";
export { storeBackend } from "./backends/store.ts";
export { withPermissions } from "./backends/with-permissions.ts";
