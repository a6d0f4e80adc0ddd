export { type RepeatOptions, type RepeatPolicy, REPEATS } from "./options.ts";
export { FILES_IN_THREAD, policyOf } from "./policy.ts";
export { REPEAT_TEXTS } from "./repeats.prompt.ts";
export {
  CALL_REPETITION,
  type CallRepetition,
  isRepetition,
  markRepetition,
  ranText,
  tellRepetition,
  unknownOutcome,
} from "./repetition.ts";
