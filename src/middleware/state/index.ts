export { setBounded } from "./bounded-map.ts";
export { anyUpdate, harnessField, isHarnessField, lastValue } from "./fields.ts";
export { StepControl } from "./step-control.ts";
