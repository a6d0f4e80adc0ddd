export { CONTINUE } from "./continue.prompt.ts";
export { isAsking } from "./finished-tasks.ts";
export { openCalls, resultsOf, withTasks } from "./open-calls.ts";
export { isThreadId, newThreadId } from "./thread-ids.ts";
export { GRAPH, isForeign, settingsOfThread } from "./thread-settings.ts";
export { stateWord } from "./thread-state.ts";
export { type Hold, isSteered, Thread, type ThreadContent } from "./thread.ts";
