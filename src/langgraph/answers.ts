import { INTERRUPT } from "@langchain/langgraph-checkpoint";
import { isSame as isEqual } from "../plan/todo/index.ts";
import type { Unended } from "./call-journal.ts";
import type { SavedWrite } from "./step-writes.ts";
import { hasAnswersById, scratchpadOf, taskOf } from "./task.ts";

/** Whether the next question of this task would get the user's answer. */
export function hasAnswer(configurable: Record<string, unknown> = {}): boolean {
  const pad = scratchpadOf(configurable);
  return pad !== undefined && (pad.resume.length > 0 || pad.nullResume !== undefined);
}

/** An answer without an interrupt's id. */
interface SharedAnswer {
  answer: unknown;
  /** False for an earlier answer that LangGraph hands out again. */
  isNew: boolean;
  /** Removes the answer, so that the question stays open. */
  putAside: () => void;
}

/**
 * The answer without an interrupt's id that the next question would get. LangGraph gives such an answer to every open
 * question, but the user's decision about one call must not count for all. LangGraph also gives it out again when a
 * later answer has an id, or when there is none; an answer that this task has already read is removed here.
 */
export function sharedAnswer(configurable: Record<string, unknown>): SharedAnswer | undefined {
  const pad = scratchpadOf(configurable);
  if (pad?.nullResume === undefined || pad.resume.length > pad.interruptCounter + 1) return undefined;
  const answer = pad.nullResume;
  const putAside = (): void => void delete pad.nullResume;
  if (pad.resume.some((earlier) => isEqual(earlier, answer))) {
    putAside();
    return undefined;
  }
  // An invocation has either answers with ids, or one answer without.
  return { answer, isNew: !hasAnswersById(configurable), putAside };
}

/**
 * Removes the answer that the user gave before the first run of a call that may now run again: it does not allow a
 * second run. `isSame`: the answer equals the one that was removed before, so it may be that one or a new one.
 * `unclear`: LangGraph has earlier answers that it would mix with new ones.
 */
export function earlierAnswer(
  configurable: Record<string, unknown>,
  { asked, hasAnswers, times }: Pick<Unended, "asked" | "hasAnswers" | "times">,
): { answer: unknown; isSame: boolean } | "unclear" | undefined {
  const pad = scratchpadOf(configurable);
  const { repeated, putAside } = (asked ?? {}) as { repeated?: unknown; putAside?: unknown };
  const isAsked = repeated === times;
  if (hasAnswers && !isAsked) return "unclear";
  const answer = pad?.nullResume;
  const isSame = isAsked && putAside !== undefined && isEqual(answer, putAside);
  if (!pad || (isAsked && !isSame)) return undefined;
  if (!isAsked) pad.resume.length = 0;
  delete pad.nullResume;
  // The user has answered by the interrupt's id.
  if (answer === undefined) return undefined;
  return { answer, isSame: isSame && pad.resume.length === 0 };
}

/**
 * Removes an answer without an interrupt's id from a task that has not asked anything yet. LangGraph gives such an
 * answer to every task that asks, also to one that only waited for the task that asked.
 */
export function forgetOthersAnswer(
  writes: readonly SavedWrite[],
  configurable: Record<string, unknown> | undefined,
): void {
  const [task, pad] = [taskOf(configurable), scratchpadOf(configurable)];
  const hasAsked = writes.some(([id, channel]) => id === task && channel === INTERRUPT);
  if (pad && !hasAsked) delete pad.nullResume;
}
