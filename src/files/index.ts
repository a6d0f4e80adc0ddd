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
export { FROZEN_FILES } from "./backends/with-permissions.ts";
export type { FileOperations } from "./search/operations.ts";
export { type Permission, type PermissionRule } from "./paths/permissions.ts";
export { sandboxBackend, type RemoteSandbox, type RemoteSandboxOptions } from "./backends/sandbox.ts";
export type { CommandLimits } from "./shell/isolation/limits.ts";
export { isIsolated, shellBackend, type ShellOptions } from "./shell/index.ts";
export type { Isolation } from "./shell/isolation/isolations.ts";
export { type StateBackend } from "./backends/state.ts";
export { storeBackend } from "./backends/store.ts";
export { withPermissions } from "./backends/with-permissions.ts";
