import type { SentAnswer, Question } from "../client/contract.ts";

/** The effect of a message from the composer while questions are open. */
export type MessageEffect =
  | { type: "task" }
  /** Several questions are open, and the message belongs to none of them. */
  | { type: "none" }
  | { type: "answer"; id: string }
  | { type: "reject"; id: string };

/** The only question that is undecided gets the message. */
export function messageEffect(
  questions: readonly Question[],
  decided: Readonly<Record<string, SentAnswer>>,
): MessageEffect {
  if (questions.length === 0) return { type: "task" };
  const undecided = questions.filter(({ id }) => !(id in decided));
  const [question] = undecided;
  if (!question || undecided.length > 1) return { type: "none" };
  const { id, kind } = question;
  return { type: kind === "permission" || kind === "plan-approval" ? "reject" : "answer", id };
}

/** The answers to send: those decided so far, and the message. */
export function answersWith(
  message: string,
  { id, type }: Extract<MessageEffect, { id: string }>,
  decided: Readonly<Record<string, SentAnswer>>,
): Record<string, SentAnswer> {
  const answer: SentAnswer = type === "answer" ? message : { type: "reject", message };
  return { ...decided, [id]: answer };
}

/** The answers to questions that are still open. */
export function ofQuestions(
  answers: Readonly<Record<string, SentAnswer>>,
  questions: readonly Question[],
): Record<string, SentAnswer> {
  return Object.fromEntries(
    questions.flatMap(({ id }) => {
      const decision = answers[id];
      return decision === undefined ? [] : [[id, decision]];
    }),
  );
}
