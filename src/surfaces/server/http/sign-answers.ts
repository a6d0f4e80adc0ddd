import { decisionList, decisionType } from "../../../middleware/tools/index.ts";
import { isRecord } from "../../../plan/read/index.ts";

/** Adds the user to each decision in some answers, on a server with `auth`: nobody can decide in another's name. */
export function signAnswers(
  answers: Readonly<Record<string, unknown>>,
  user: string | undefined,
): Record<string, unknown> {
  if (user === undefined) return { ...answers };
  return Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id, signAnswer(answer, user)]));
}

function signAnswer(answer: unknown, by: string): unknown {
  const list = decisionList(answer)?.map((one) => signAnswer(one, by));
  if (list) return isRecord(answer) ? { ...answer, decisions: list } : list;
  return isRecord(answer) && decisionType(answer) ? { ...answer, by } : answer;
}
