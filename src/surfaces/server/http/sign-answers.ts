import { signedBy } from "../../../decision.ts";

/** Adds the user to each decision in some answers, on a server with `auth`: no one can decide in another's name. */
export function signAnswers(
  answers: Readonly<Record<string, unknown>>,
  user: string | undefined,
): Record<string, unknown> {
  if (user === undefined) return { ...answers };
  return Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id, signedBy(answer, user)]));
}
