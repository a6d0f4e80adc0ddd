import type { Question } from "../../runs/questions.ts";

const REJECT = '"reject: reason"';

/** What can be answered to a question of each kind, the likeliest first, to be copied. */
const WORDS: Record<Question["kind"], readonly string[]> = {
  "plan-approval": ["approve", REJECT, "@plan.md"],
  permission: ["approve", REJECT],
  clarification: ['"your answer"'],
  other: ['"your answer"'],
};

/** The flags that answer all open questions, one for each, in their order. */
export function answerFlags(questions: readonly Question[]): string {
  return questions.map(({ kind }) => `--answer ${WORDS[kind][0]}`).join(" ");
}

/** How open questions are answered, where there is more than one way. */
export function answerHint(questions: readonly Question[]): string | undefined {
  const ways = [...new Set(questions.flatMap(({ kind }) => WORDS[kind]))].map((words) => `--answer ${words}`);
  if (ways.length < 2) return undefined;
  const many = questions.length > 1 ? `, ${questions.length} times, in the order of the questions` : "";
  return `Answer with ${ways.slice(0, -1).join(", ")} or ${ways.at(-1)}${many}.`;
}
