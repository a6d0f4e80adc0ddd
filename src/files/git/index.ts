export { foldersIn, isStaged, readIndex, submodulesIn } from "./git-index.ts";
export { isMissing, MAX_GIT_FILE, readRegular } from "./read-regular.ts";
export { branchOf, repositoryOf } from "./repository.ts";
export { readSettings } from "./settings.ts";
