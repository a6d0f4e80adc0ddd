export { type Isolation } from "../vocabulary.ts";
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
} from "./backend/index.ts";
export {
  compositeBackend,
  createBackend,
  type FileChange,
  FROZEN_FILES,
  sandboxBackend,
  type RemoteSandbox,
  type RemoteSandboxOptions,
  type StateBackend,
  storeBackend,
  withPermissions,
} from "./backends/index.ts";
export { diskBackend, type DiskOptions } from "./disk/index.ts";
export type { FileOperations } from "./search/index.ts";
export { type Permission, type PermissionRule } from "./paths/index.ts";
export { type CommandLimits, isIsolated, shellBackend, type ShellOptions } from "./shell/index.ts";
