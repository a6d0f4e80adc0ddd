import { decisionList, decisionType } from "../../../middleware/tools/index.ts";
import { isRecord } from "../../../plan/read/index.ts";

/** Decisions with the name of the user who gave them, where a server knows its users: nobody decides in another's name. */
export function signed(
  answers: Readonly<Record<string, unknown>>,
  user: string | undefined,
): Record<string, unknown> {
  if (user === undefined) return { ...answers };
  return Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id, signedAnswer(answer, user)]));
}

function signedAnswer(answer: unknown, by: string): unknown {
  const list = decisionList(answer)?.map((one) => signedAnswer(one, by));
  if (list) return isRecord(answer) ? { ...answer, decisions: list } : list;
  return isRecord(answer) && decisionType(answer) ? { ...answer, by } : answer;
}
