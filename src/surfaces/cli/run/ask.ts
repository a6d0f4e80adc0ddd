import type { Question } from "../../../threads/questions/index.ts";
import { answerFor, type Asker, displayFor, type History } from "../session/index.ts";
import { paintOf } from "../terminal.ts";

export interface AskPlace extends Pick<Asker, "terminal" | "settings" | "mode" | "thread"> {
  /** Texts typed earlier. */
  history: History;
  signal: AbortSignal;
}

/** Asks the user at the terminal a question, as a session does. Undefined on Ctrl-C. */
export async function ask(question: Question, { history, signal, ...place }: AskPlace): Promise<unknown> {
  const { terminal } = place;
  const paint = paintOf(terminal);
  const nothing = (): undefined => undefined;
  const display = displayFor({ terminal, paint, history });
  const dismiss = (): void => display.dismiss();
  display.open({
    submit: nothing,
    steer: nothing,
    stop: dismiss,
    quit: dismiss,
    nextMode: nothing,
    pastedImage: async () => undefined,
    unfold: nothing,
    unqueue: nothing,
  });
  signal.addEventListener("abort", dismiss, { once: true });
  try {
    const askDisplay: Asker["display"] = {
      ask: async (request) => (signal.aborted ? undefined : display.ask(request)),
      lend: (use) => display.lend(use),
      print: (lines) => display.print(lines),
    };
    return await answerFor(question, { ...place, paint, display: askDisplay, agreesTo: () => false });
  } finally {
    signal.removeEventListener("abort", dismiss);
    await display.close();
  }
}
