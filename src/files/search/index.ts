export { capMatches, renderGrep } from "./grep.ts";
export { type FileOperations, inWalkOrder, walk, type WalkOptions } from "./operations.ts";
export { globFolder, grepAt, ignoreRules } from "./search.ts";
export { ignoresIn } from "./ignore-rules.ts";
export { SearchPass } from "./search-pass.ts";
