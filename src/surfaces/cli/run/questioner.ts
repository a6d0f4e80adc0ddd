import { HarnessError } from "../../../errors.ts";
import { readAnswer, type Question } from "../../../threads/questions/index.ts";
import type { Thread } from "../../../threads/thread/index.ts";
import type { Interruption } from "../interruption.ts";
import { quoted, refuse } from "../wording.ts";
import type { AskPlace } from "./ask.ts";
import type { Output } from "./plain.ts";

export interface QuestionerOptions {
  thread: Thread;
  /** Answers to the questions that are open now, in their order. */
  answers: readonly string[];
  /** Absent if no one can be asked. */
  place?: Omit<AskPlace, "signal">;
  output: Output;
  interruption: Interruption;
  notify: (text: string) => void;
}

/**
 * Returns a function that answers the questions of a run: those that are open now with `answers`, others by asking a
 * person. Throws `invalid-options` for more answers than open questions: they are never kept for a later question.
 */
export async function questioner(
  options: QuestionerOptions,
): Promise<(question: Question) => Promise<unknown>> {
  const { thread, answers, place, output, interruption, notify } = options;
  const open = answers.length > 0 ? await thread.questions() : [];
  if (answers.length > open.length) {
    const message = `Thread ${quoted(thread.id)} has ${open.length} open questions, and there are ${answers.length} answers.`;
    refuse(message);
  }
  const answerById = new Map(answers.map((answer, at) => [open[at]!.id, answer]));
  return async (question) => {
    const answer = answerById.get(question.id);
    // Used once: if the same question is asked again, the answer was not accepted.
    answerById.delete(question.id);
    if (answer !== undefined) return parsedAnswer(question, answer, notify);
    if (!place) return undefined;
    // Loaded on demand, as most runs ask nothing and start faster without it.
    const { ask } = await import("./ask.ts");
    const askPerson = (): Promise<unknown> => ask(question, { ...place, signal: interruption.signal });
    const value = await (output.lend ? output.lend(askPerson) : askPerson());
    if (value === undefined && !interruption.signal.aborted) interruption.interrupt();
    return value;
  };
}

/** Parses an answer. An invalid one leaves the question open, and the run waits for another. */
function parsedAnswer(question: Question, answer: string, notify: QuestionerOptions["notify"]): unknown {
  try {
    return readAnswer(question, answer);
  } catch (error) {
    const refusal = HarnessError.from(error);
    if (!refusal) throw error;
    notify(refusal.message);
    return undefined;
  }
}
