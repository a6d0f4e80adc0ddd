export { answersById, isKeyed, waitingOf } from "./answers.ts";
export { mention, withImages, type WithImages } from "./named-images.ts";
export { RunEvents, runThread, type StreamTap } from "./run-thread.ts";
export { argumentsOf, commandIn } from "./slash-text.ts";
