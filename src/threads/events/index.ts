export { boundedArgs, boundedText, MOST_IN_EVENT } from "./bounded.ts";
export { ending, type Ending, finished, isStateUnfinished } from "./ending.ts";
export type { RunEvent, RunEventBody, Usage } from "./events.ts";
export { OUTCOME_CODES } from "./exit-codes.ts";
export { quoted } from "./quoted.ts";
export { shortList } from "./short-list.ts";
export { eventIn } from "./stream-events.ts";
export { timeLeft } from "./time-left.ts";
