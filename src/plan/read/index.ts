export { type Draft, readItems, readUpdate, tooManyItems, type UpdateDraft } from "./read.ts";
export { isRecord, Reading, show } from "./reading.ts";
export { repairJson } from "./repair.ts";
export { readRules } from "./values.ts";
