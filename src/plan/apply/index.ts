export { type ApplyOptions, applyUpdate, applyWrite, type Author } from "./apply.ts";
export { type Conflict, mergeEdit, readEdit } from "./merge.ts";
export { listIds } from "./rules.ts";
