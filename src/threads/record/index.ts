export { Recorder } from "./recorder.ts";
export { replay, type ReplayOptions } from "./replay.ts";
export { textArguments } from "./text-arguments.ts";
