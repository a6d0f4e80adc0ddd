import { linesOf } from "./lines.ts";
import type { Output, Screen } from "./output.ts";
import type { Paint } from "./paint.ts";

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

/** Only the answer, at the end; what keeps a run from ending well is said on the error stream. */
export function quietOutput(
  screen: Pick<Screen, "write">,
  errors: Pick<Screen, "write">,
  paint: Paint,
): Output {
  return {
    show: (event, view) => {
      if (event.type !== "run-end") return;
      if (event.answer) screen.write(`${event.answer}\n`);
      if (event.outcome !== "done") errors.write(`${linesOf(event, view, paint).join("\n")}\n`);
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
