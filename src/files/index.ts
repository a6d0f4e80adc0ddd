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
} from "./backend.ts";
export { compositeBackend } from "./composite.ts";
export { createBackend } from "./create.ts";
export { diskBackend, type DiskOptions } from "./disk/index.ts";
export type { FileChange } from "./file-table.ts";
export { FROZEN_FILES } from "./frozen-files.ts";
export { renderGrep } from "./grep.ts";
export { diffFiles, mergeFiles, type FilesUpdate } from "./merge-files.ts";
export { mergeText, type MergedText } from "./merge-text.ts";
export { numberLines, type LinePage } from "./number-lines.ts";
export { preview, type PreviewOptions } from "./offload.ts";
export type { FileOperations, WalkOptions } from "./operations.ts";
export { parsePath } from "./paths.ts";
export { checkPermission, type FileAction, type Permission, type PermissionRule } from "./permissions.ts";
export { replaceText } from "./replace-text.ts";
export { sandboxBackend, type RemoteSandbox, type RemoteSandboxOptions } from "./sandbox.ts";
export { bubblewrapWorks } from "./shell/bubblewrap.ts";
export { isIsolated, shellBackend, type ShellOptions } from "./shell/index.ts";
export type { Isolation } from "./shell/isolations.ts";
export { renderExecution, type CommandOptions } from "./shell/run-command.ts";
export { stateFiles, type StateBackend } from "./state.ts";
export { storeBackend } from "./store.ts";
export { withPermissions } from "./with-permissions.ts";
