export { foldName } from "./fold.ts";
export { compileFilter, compileGlob, leadingFolder } from "./glob.ts";
export { HELD, HELD_IF_THERE, isObeyedFile, namesObeyedFile, OBEYED } from "./obeyed.ts";
export {
  foldersAbove,
  inOrder,
  isInside,
  isWithin,
  nameOf,
  parentOf,
  parsePath,
  pathIn,
  segmentsOf,
} from "./paths.ts";
export {
  compileRules,
  FILE_ACTIONS,
  type FileAction,
  type Permission,
  type PermissionRule,
} from "./permissions.ts";
