import type { ThreadSummary } from "../../storage/index.ts";

/** The names of a thread's states for people. */
const WORDS = { running: "running", interrupted: "waiting", idle: "stopped", done: "done" } as const;

/** The state of a thread in a word; one that has ended with open items is `open`. */
export function stateWord({ state, todos }: Pick<ThreadSummary, "state" | "todos">): string {
  return state === "done" && todos.done < todos.total ? "open" : WORDS[state];
}
