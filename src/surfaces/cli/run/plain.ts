import {
  exact,
  joined,
  shown,
  shownJson,
  type Sink,
  type Output,
  plainPaint,
  type Paint,
} from "../output/index.ts";
import type { LiveDisplay, LiveDisplayOptions } from "../session/index.ts";
import { canAsk, isLive, type OutputFlags, paintOf, type Terminal } from "../terminal.ts";
import { linesOf } from "../view/index.ts";

/** One line per thing that happened, for logs and pipes. */
export function plainOutput(
  screen: Pick<Sink, "write">,
  { paint = plainPaint, asks = false }: { paint?: Paint; asks?: boolean } = {},
): Output {
  return {
    show: (event, view) => {
      // A question is put with its choices.
      const lines = asks && event.type === "question" ? [] : linesOf(event, view, paint);
      if (lines.length > 0) screen.write(shown`${joined(lines, "\n")}\n`);
    },
  };
}

/**
 * Only the answer, at the end; questions, and what keeps a run from ending well, go to the error stream. On a terminal
 * the answer is made harmless; in a pipe it is what the model wrote.
 */
export function quietOutput(screen: Pick<Sink, "write" | "isTTY">, errors: Pick<Sink, "write">): Output {
  return {
    show: (event, view) => {
      const isTold = event.type === "question" || (event.type === "run-end" && event.outcome !== "done");
      if (isTold) errors.write(shown`${joined(linesOf(event, view, plainPaint), "\n")}\n`);
      if (event.type !== "run-end" || !event.answer) return;
      screen.write(shown`${exact(event.answer, screen)}\n`);
    },
  };
}

/** Every event as one line of JSON. */
export function jsonOutput(screen: Pick<Sink, "write">): Output {
  return { show: (event) => void screen.write(shown`${shownJson(event)}\n`) };
}

/** The output that the flags and the terminal ask for. */
export async function outputFor(
  terminal: Terminal,
  { json, quiet }: OutputFlags,
  options: Pick<LiveDisplayOptions, "prices" | "history">,
): Promise<Output> {
  const { stdout, stderr } = terminal;
  if (json) return jsonOutput(stdout);
  if (quiet) return quietOutput(stdout, stderr);
  const asks = canAsk(terminal, {});
  const paint = paintOf(terminal);
  if (!isLive(terminal)) return plainOutput(stdout, { asks });
  // Markdown and colours of code are loaded where somebody looks.
  const { LiveDisplay } = await import("../session/display/live-display.ts");
  return liveOutput(new LiveDisplay({ ...NO_PROMPT, ...options, terminal, paint }), { paint, asks });
}

const NO_PROMPT = { commands: () => [], files: () => [] };

/** Text that scrolls, as in a session, and below it the plan as it stands. */
export function liveOutput(display: LiveDisplay, { paint, asks }: { paint: Paint; asks: boolean }): Output {
  let lent: Promise<unknown> | undefined;
  display.watch();
  return {
    show: (event, view) => {
      // A question is put with its choices.
      const isPrinted = event.type === "run-start" || (event.type === "question" && !asks);
      if (isPrinted) display.print(linesOf(event, view, paint));
      display.show(event, view);
    },
    lend: async (work) => {
      const done = display.lend(work);
      lent = done.catch(() => {});
      try {
        return await done;
      } finally {
        lent = undefined;
      }
    },
    close: async () => {
      // A stop ends the run before the question is taken away: what there is to say comes after it.
      if (lent) await lent;
      await display.close();
    },
  };
}
