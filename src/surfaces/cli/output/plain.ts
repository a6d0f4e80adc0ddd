import { linesOf } from "./lines.ts";
import type { Output, Screen } from "./output.ts";
import { harmless, plainPaint, type Paint } from "./paint.ts";

/** One line per thing that happened, for logs and pipes. */
export function plainOutput(screen: Pick<Screen, "write">, paint: Paint): Output {
  return {
    show: (event, view) => {
      const lines = linesOf(event, view, paint);
      if (lines.length > 0) screen.write(`${lines.join("\n")}\n`);
    },
    pause: () => {},
    resume: () => {},
    close: () => {},
  };
}

/**
 * Only the answer, at the end; questions, and what keeps a run from ending well, go to the error stream. On a terminal
 * the answer is made harmless; in a pipe it is what the model wrote.
 */
export function quietOutput(
  screen: Pick<Screen, "write">,
  errors: Pick<Screen, "write">,
  isTerminal: boolean,
): Output {
  return {
    show: (event, view) => {
      const isTold = event.type === "question" || (event.type === "run-end" && event.outcome !== "done");
      if (isTold) errors.write(`${linesOf(event, view, plainPaint).join("\n")}\n`);
      if (event.type !== "run-end" || !event.answer) return;
      screen.write(`${isTerminal ? harmless(event.answer) : event.answer}\n`);
    },
    pause: () => {},
    resume: () => {},
    close: () => {},
  };
}

/** Every event as one line of JSON. */
export function jsonOutput(screen: Pick<Screen, "write">): Output {
  return {
    show: (event) => void screen.write(`${JSON.stringify(event)}\n`),
    pause: () => {},
    resume: () => {},
    close: () => {},
  };
}
