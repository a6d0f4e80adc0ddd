import { isRecord } from "../../../plan/read/index.ts";
import { offersFor, ruledCall, type Offer } from "../../../threads/consent/index.ts";
import type { Question } from "../../../threads/questions/index.ts";
import { settingsOfThread } from "../../../threads/thread/index.ts";
import { refuse } from "../http/index.ts";
import type { PageParts } from "./parts.ts";

/** The rules that a user may allow with the answer to each open question, by its id. */
export async function offersOf(
  { own, saver }: PageParts,
  thread: string,
  questions: readonly Question[],
): Promise<Map<string, Offer[]>> {
  const dir = own?.allow && (await settingsOfThread(saver, thread))?.dir;
  if (dir === undefined) return new Map();
  return new Map(
    questions.flatMap(({ id, kind, call, repeated }) => {
      const isOffered = kind === "permission" && call !== undefined && !repeated;
      return isOffered ? [[id, offersFor(call, ruledCall(call, dir).path)] as const] : [];
    }),
  );
}

/**
 * Stores the rules that the answers allow, each by the label of its offer, and returns the answers without them. Answers
 * 422 for a rule that is not offered.
 */
export async function withoutRules(
  parts: PageParts,
  thread: string,
  { answers, questions }: { answers: Record<string, unknown>; questions: readonly Question[] },
): Promise<Record<string, unknown>> {
  const offers = await offersOf(parts, thread, questions);
  const plain = Object.entries(answers).map(([id, answer]) => {
    if (!isRecord(answer) || answer["always"] === undefined) return { id, answer, rules: [] };
    const { always, ...rest } = answer;
    const offer = offers.get(id)?.find(({ label }) => label === always);
    if (!offer || rest["type"] !== "approve") refuse(422, "This rule is not offered for the call.");
    return { id, answer: rest, rules: offer.rules };
  });
  const rules = plain.flatMap((one) => one.rules);
  if (rules.length > 0) await parts.own?.allow?.((await settingsOfThread(parts.saver, thread))!.dir!, rules);
  return Object.fromEntries(plain.map(({ id, answer }) => [id, answer]));
}
