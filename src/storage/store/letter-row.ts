import { HarnessError } from "../../errors.ts";
import type { Letter } from "./thread-store.ts";

/** A letter as a row of a mailbox. */
export type LetterRow = {
  id: number;
  thread: number;
  at: number;
  content: string;
  begun: string | null;
  outcome: string | null;
};

/** The age at which an answer that nobody has fetched is deleted. */
export const ANSWER_MAX_AGE_MS = 24 * 60 * 60 * 1000;

export function toLetter({ id, content, begun }: LetterRow): Letter {
  return {
    id,
    content: JSON.parse(content) as unknown,
    ...(begun !== null && { begun: JSON.parse(begun) as unknown }),
  };
}

export function editWithdrawn(): HarnessError {
  return new HarnessError("edit-withdrawn", "The edit was withdrawn.");
}
