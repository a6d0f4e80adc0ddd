import type { Question } from "../../../threads/questions/index.ts";
import { quoted } from "../wording.ts";

const REJECT = '"reject: reason"';
/** A placeholder that is obviously not an answer. */
const PLACEHOLDER = '"…"';

/** Example answers to a question, the likeliest first. */
function wordsFor({ kind, options }: Question): readonly string[] {
  if (kind === "plan-approval") return ["approve", REJECT, "@plan.md"];
  if (kind === "permission") return ["approve", REJECT];
  return [options[0] === undefined ? PLACEHOLDER : quoted(options[0])];
}

/** The flags that answer all open questions, in their order. */
export function answerFlags(questions: readonly Question[]): string {
  return questions.map((question) => `--answer ${wordsFor(question)[0]}`).join(" ");
}

/** Explains how to answer open questions; undefined if there is only one way. */
export function answerHint(questions: readonly Question[]): string | undefined {
  const ways = [...new Set(questions.flatMap(wordsFor))].map((words) => `--answer ${words}`);
  if (ways.length < 2) return undefined;
  const many = questions.length > 1 ? `, ${questions.length} times, in the order of the questions` : "";
  return `Answer with ${ways.slice(0, -1).join(", ")} or ${ways.at(-1)}${many}.`;
}
