import type { RunEvent } from "../../../threads/events/index.ts";
import type { RunView } from "../../../threads/view/index.ts";
import { exact, joined, shown, shownJson, type Sink, plainPaint, type Paint } from "../output/index.ts";
import type { LiveDisplay, LiveDisplayOptions } from "../session/index.ts";
import { canAsk, isLive, type OutputFlags, paintOf, type Terminal } from "../terminal.ts";
import { linesOf } from "../view/index.ts";

/** Shows a run. `view` is the state after the event. */
export interface Output {
  show(event: RunEvent, view: RunView): void;
  /** Releases the terminal while `work` asks a question. */
  lend?<T>(work: () => Promise<T>): Promise<T>;
  close?(): Promise<void>;
}

/** Prints plain lines for each event, for logs and pipes. */
export function plainOutput(
  screen: Pick<Sink, "write">,
  { paint = plainPaint, asks = false }: { paint?: Paint; asks?: boolean } = {},
): Output {
  const print = (event: RunEvent, view: RunView): void => {
    // A user who is asked sees the question with its choices.
    const lines = asks && event.type === "question" ? [] : linesOf(event, view, paint);
    if (lines.length > 0) screen.write(shown`${joined(lines, "\n")}\n`);
  };
  /** Answers that were cut off, by owner: the next answer of the owner continues each. */
  const cut = new Map<string, ModelEnd>();
  return {
    show: (event, view) => {
      if (event.type === "model-end") {
        const whole = { ...event, text: (cut.get(event.owner)?.text ?? "") + event.text };
        cut.delete(event.owner);
        if (event.isCut) cut.set(event.owner, whole);
        else print(whole, view);
        return;
      }
      // The model did not continue them.
      if (event.type === "run-end") for (const half of cut.values()) print(half, view);
      if (event.type === "run-end") cut.clear();
      print(event, view);
    },
  };
}

type ModelEnd = Extract<RunEvent, { type: "model-end" }>;

/**
 * Prints only the answer, at the end; questions and failures go to `errors`. The answer is made harmless on a terminal,
 * and is unchanged in a pipe.
 */
export function quietOutput(screen: Pick<Sink, "write" | "isTTY">, errors: Pick<Sink, "write">): Output {
  return {
    show: (event, view) => {
      const isError = event.type === "question" || (event.type === "run-end" && event.outcome !== "done");
      if (isError) errors.write(shown`${joined(linesOf(event, view, plainPaint), "\n")}\n`);
      if (event.type !== "run-end" || !event.answer) return;
      screen.write(shown`${exact(event.answer, screen)}\n`);
    },
  };
}

/** Prints every event as one line of JSON. */
export function jsonOutput(screen: Pick<Sink, "write">): Output {
  return { show: (event) => void screen.write(shown`${shownJson(event)}\n`) };
}

/** Creates the output for the flags and the terminal. */
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
  // Loaded on demand: it renders Markdown and code, which the other outputs do not need.
  const { LiveDisplay } = await import("../session/display/live-display.ts");
  return liveOutput(new LiveDisplay({ ...options, terminal, paint }), { paint, asks });
}

/** Prints scrolling text, as in a session, with the live plan below it. */
export function liveOutput(display: LiveDisplay, { paint, asks }: { paint: Paint; asks: boolean }): Output {
  let lent: Promise<unknown> | undefined;
  display.watch();
  return {
    show: (event, view) => {
      // A user who is asked sees the question with its choices.
      const isPrinted = event.type === "run-start" || (event.type === "question" && !asks);
      if (isPrinted) display.print(linesOf(event, view, paint));
      display.show(event, view);
    },
    lend: async (work) => {
      const result = display.lend(work);
      lent = result.catch(() => {});
      try {
        return await result;
      } finally {
        lent = undefined;
      }
    },
    close: async () => {
      // A stop ends the run before its question is dismissed: the last lines are printed after that.
      if (lent) await lent;
      await display.close();
    },
  };
}
