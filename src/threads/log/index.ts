export { costWords, type PlanRecord, planTitle } from "./plans.ts";
export { costOfThread, factsOf, threadOf, type ThreadState } from "./thread.ts";
export type { ThreadEvents } from "./thread-events.ts";
export { exportMarkdown, planMarkdown, transcript } from "./transcript.ts";
export { ago, amount, answerWords, compactWords, dollars, sentBackWords, summaryWords } from "./words.ts";
