import { HarnessError } from "../../../errors.ts";
import { readAnswer, type Question } from "../../../threads/events/questions.ts";
import { planItems, planRules } from "../../../threads/plan/plan-text.ts";
import { joined, oneLine, shown } from "../output/harmless.ts";
import { questionLines } from "../output/lines.ts";
import { askForWords, choose, lineReader, type PromptPlace } from "../prompts.ts";
import { isLive, paintOf, type Terminal } from "../terminal.ts";
import { edit } from "../threads/external-editor.ts";
import { planText } from "../threads/plan-text.ts";

const OWN_WORDS = "other";

/** A question with what a person has made of its plan so far. */
interface Draft extends Question {
  markdown?: string;
}

/** Puts a question to the person at the terminal. Undefined when they would rather not answer now (Ctrl-C). */
export async function ask(question: Question, terminal: Terminal, signal: AbortSignal): Promise<unknown> {
  // Menus move the cursor about: not on a terminal that wants plain text or does not know its width.
  const put = isLive(terminal) && terminal.stdout.columns > 0 ? askByMenu : askByLine;
  for (let draft: Draft = question; ;) {
    const answer = await put(draft, terminal, signal);
    if (answer !== EDIT) return answer;
    const { todos = [], rules = [] } = question;
    try {
      const edited = await edit(draft.markdown || planText(todos, rules), terminal.env);
      draft = { ...question, markdown: edited };
      return { type: "edit", todos: planItems(edited, todos), rules: planRules(edited) };
    } catch (error) {
      const known = HarnessError.from(error);
      if (!known) throw error;
      draft = { ...draft, error: known.message };
    }
  }
}

const EDIT = Symbol("edit");

type Put = (question: Draft, terminal: Terminal, signal: AbortSignal) => Promise<unknown>;

const askByMenu: Put = async (question, terminal, signal) => {
  const place: PromptPlace = { terminal, signal };
  const lines = questionLines({ ...question, options: [] }, paintOf(terminal));
  terminal.stdout.write(shown`\n${joined(lines, "\n")}\n`);
  const { kind, options } = question;
  if (kind === "clarification" || kind === "other") return answerFreely(options, place);
  const canEdit = kind === "plan-approval";
  const choice = await choose(
    canEdit ? shown`Work on this plan?` : shown`Allow this?`,
    [
      { value: "approve", label: shown`Yes` },
      ...(canEdit
        ? [{ value: "edit", label: shown`Yes, after I edited it`, hint: shown`opens $EDITOR` }]
        : []),
      { value: "reject", label: shown`No, and say why` },
    ],
    place,
  );
  if (choice === undefined) return undefined;
  if (choice === "edit") return EDIT;
  if (choice === "approve") return readAnswer(question, "approve");
  const reason = await askForWords(shown`Why not?`, place, shown`the agent reads this`);
  return reason === undefined ? undefined : readAnswer(question, `reject: ${reason}`);
};

async function answerFreely(options: readonly string[], place: PromptPlace): Promise<unknown> {
  if (options.length > 0) {
    const choices = options.map((option) => ({ value: option, label: oneLine(option) }));
    const other = { value: OWN_WORDS, label: shown`Something else` };
    const choice = await choose(shown`Your answer`, [...choices, other], place);
    if (choice !== OWN_WORDS || options.includes(OWN_WORDS)) return choice;
  }
  return askForWords(shown`Your answer`, place);
}

const WAYS = {
  "plan-approval": shown`approve, edit or reject: reason`,
  permission: shown`approve or reject: reason`,
  clarification: shown`your answer`,
  other: shown`your answer`,
};

/** Reads a line. The question itself stands in the output already, as one of its lines. */
const askByLine: Put = async (question, terminal, signal) => {
  const lines = lineReader({ terminal });
  // At the end of the input nobody will answer any more.
  const ended = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    for (let complaint = question.error; ;) {
      if (complaint !== undefined) terminal.stdout.write(shown`${oneLine(complaint)}\n`);
      const words = await Promise.race([lines.question(shown`${WAYS[question.kind]} > `, { signal }), ended]);
      if (words === undefined) return undefined;
      if (question.kind === "plan-approval" && words.trim().toLowerCase() === "edit") return EDIT;
      try {
        return readAnswer(question, words);
      } catch (error) {
        complaint = HarnessError.from(error)?.message ?? String(error);
      }
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
  }
};
