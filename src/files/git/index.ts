export { isStaged, readIndex, submodulesIn } from "./git-index.ts";
export { branchOf, repositoryOf } from "./repository.ts";
export { readSettings } from "./settings.ts";
