import type { ThreadSummary } from "../../storage/index.ts";

/** States of a thread as users read them. */
const WORDS = { running: "running", interrupted: "waiting", idle: "stopped", done: "done" } as const;

/** The state of a thread in a word; one that has ended with open items is `open`. */
export function stateWord({ state, todos }: Pick<ThreadSummary, "state" | "todos">): string {
  return state === "done" && todos.done < todos.total ? "open" : WORDS[state];
}
