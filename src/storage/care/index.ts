export { backupStore } from "./backup.ts";
export { checkStore, type CheckOptions } from "./check.ts";
export type { Problem, Progress } from "./problem.ts";
export { repairStore, type Repair } from "./repair.ts";
