export { Recorder, textArguments } from "./recorder.ts";
export { replay, type ReplayOptions } from "./replay.ts";
