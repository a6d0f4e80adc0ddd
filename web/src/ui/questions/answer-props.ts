import type { Answer, Question } from "../../client/contract.ts";

/** Props of every form for an answer. */
export interface AnswerProps {
  question: Question;
  isSending: boolean;
  onDecide: (answer: Answer) => void;
}
