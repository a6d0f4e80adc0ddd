import { HarnessError } from "../../../errors.ts";
import { readAnswer, type Question } from "../../../threads/questions/index.ts";
import type { Thread } from "../../../threads/thread/index.ts";
import type { Interruption } from "../interruption.ts";
import type { Output } from "../output/index.ts";
import { quoted, refuse } from "../wording.ts";
import type { AskPlace } from "./ask.ts";

export interface QuestionerOptions {
  thread: Thread;
  /** Words for the questions that are open now, in their order. */
  given: readonly string[];
  /** Absent when there is nobody to ask. */
  place?: Omit<AskPlace, "signal"> | undefined;
  output: Output;
  interruption: Interruption;
  notify: (text: string) => void;
}

/**
 * Answers the questions of a run: those that are open now with the words that were given for them, others by asking.
 * Words are never kept for a question that nobody has seen yet: throws `invalid-options` when there are too many.
 */
export async function questioner(
  options: QuestionerOptions,
): Promise<(question: Question) => Promise<unknown>> {
  const { thread, given, place, output, interruption, notify } = options;
  const open = given.length > 0 ? await thread.questions() : [];
  if (given.length > open.length) {
    const message = `Thread ${quoted(thread.id)} has ${open.length} open questions, and there are ${given.length} answers.`;
    refuse(message);
  }
  const words = new Map(given.map((one, at) => [open[at]!.id, one]));
  return async (question) => {
    const said = words.get(question.id);
    // Once only: when the same question comes again, the answer was not good enough.
    words.delete(question.id);
    if (said !== undefined) return understood(question, said, notify);
    if (!place) return undefined;
    // Prompts are loaded when there is something to ask: most runs start sooner without.
    const { ask } = await import("./ask.ts");
    const asked = (): Promise<unknown> => ask(question, { ...place, signal: interruption.signal });
    const value = await (output.lend ? output.lend(asked) : asked());
    if (value === undefined && !interruption.signal.aborted) interruption.interrupt();
    return value;
  };
}

/** An answer that cannot be meant leaves the question open: the run waits for a better one. */
function understood(question: Question, words: string, notify: QuestionerOptions["notify"]): unknown {
  try {
    return readAnswer(question, words);
  } catch (error) {
    const known = HarnessError.from(error);
    if (!known) throw error;
    notify(known.message);
    return undefined;
  }
}
