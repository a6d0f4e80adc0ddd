export { foldName } from "./fold.ts";
export { compileFilter, compileGlob, leadingFolder } from "./glob.ts";
export { isInside } from "./inside.ts";
export { HELD, HELD_IF_THERE, OBEYED } from "./obeyed.ts";
export { foldersAbove, inOrder, isWithin, nameOf, parentOf, parsePath, pathIn, segmentsOf } from "./paths.ts";
export {
  compileRules,
  FILE_ACTIONS,
  type FileAction,
  type Permission,
  type PermissionRule,
} from "./permissions.ts";
