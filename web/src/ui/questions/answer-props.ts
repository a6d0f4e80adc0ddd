import type { SentAnswer, Question } from "../../client/contract.ts";

/** Props of every form for an answer. */
export interface AnswerProps {
  question: Question;
  isSending: boolean;
  onDecide: (answer: SentAnswer) => void;
}
