import type { Answer, Question } from "../../client/contract.ts";

/** What every way to answer a question needs. */
export interface AnswerProps {
  question: Question;
  isSending: boolean;
  onDecide: (answer: Answer) => void;
}
