import { isDeepStrictEqual } from "node:util";

/** What LangGraph keeps of the answers that a task has got, as far as it is used here. */
interface Scratchpad {
  /** Those that came for this task, or were taken by it before. */
  resume: unknown[];
  /** The place of the last one that was read, from 0. */
  interruptCounter: number;
  /** One that came for nobody in particular. */
  nullResume?: unknown;
}

/**
 * Puts an answer aside that came without an interrupt's id and does not fit: LangGraph hands such an answer to every
 * open question, and a decision that a person took about one call must not be taken for one about all. The question is
 * then as unanswered as before. LangGraph also hands it out again when a later answer has an id; that is put aside too,
 * and only what is new is returned.
 */
export function putAside(
  configurable: Record<string, unknown> | undefined,
  fits: (answer: unknown) => boolean,
): unknown {
  const pad = configurable?.["__pregel_scratchpad"] as Scratchpad | undefined;
  if (pad?.nullResume === undefined || pad.resume.length > pad.interruptCounter + 1) return undefined;
  const answer = pad.nullResume;
  const isOld = pad.resume.some((earlier) => isDeepStrictEqual(earlier, answer));
  if (!isOld && fits(answer)) return undefined;
  delete pad.nullResume;
  return isOld ? undefined : answer;
}
