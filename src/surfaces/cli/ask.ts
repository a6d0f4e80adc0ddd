import { createInterface } from "node:readline/promises";
import { isCancel, select, text } from "@clack/prompts";
import { HarnessError } from "../../errors.ts";
import { readAnswer, type Question } from "../../runs/questions.ts";
import { edit } from "./editor.ts";
import { questionLines } from "./output/lines.ts";
import { oneLine } from "./output/paint.ts";
import { planItems, planText } from "./plan-text.ts";
import { isLive, paintOf, type Terminal } from "./terminal.ts";

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
    const { todos = [] } = question;
    try {
      const edited = await edit(draft.markdown || planText(todos), { name: "plan.md", env: terminal.env });
      draft = { ...question, markdown: edited };
      return { type: "edit", todos: planItems(edited, todos) };
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
  const streams = { input: terminal.stdin, output: terminal.stdout, signal };
  const shown = questionLines({ ...question, options: [] }, paintOf(terminal));
  terminal.stdout.write(`\n${shown.join("\n")}\n`);
  const { kind, options } = question;
  if (kind === "clarification" || kind === "other") return answerFreely(options, streams);
  const canEdit = kind === "plan-approval";
  const choice = await select({
    ...streams,
    message: canEdit ? "Work on this plan?" : "Allow this?",
    options: [
      { value: "approve", label: "Yes" },
      ...(canEdit ? [{ value: "edit", label: "Yes, after I edited it", hint: "opens $EDITOR" }] : []),
      { value: "reject", label: "No, and say why" },
    ],
  });
  if (isCancel(choice)) return undefined;
  if (choice === "edit") return EDIT;
  if (choice === "approve") return readAnswer(question, "approve");
  const reason = await text({ ...streams, message: "Why not?", placeholder: "the agent reads this" });
  return isCancel(reason) ? undefined : readAnswer(question, `reject: ${reason ?? ""}`);
};

async function answerFreely(
  options: readonly string[],
  streams: { input: Terminal["stdin"]; output: Terminal["stdout"]; signal: AbortSignal },
): Promise<unknown> {
  if (options.length > 0) {
    const choice = await select({
      ...streams,
      message: "Your answer",
      options: [
        ...options.map((option) => ({ value: option, label: oneLine(option) })),
        { value: OWN_WORDS, label: "Something else" },
      ],
    });
    if (isCancel(choice)) return undefined;
    if (choice !== OWN_WORDS || options.includes(OWN_WORDS)) return choice;
  }
  const words = await text({ ...streams, message: "Your answer" });
  return isCancel(words) ? undefined : (words ?? "");
}

const WAYS = {
  "plan-approval": "approve, edit or reject: reason",
  permission: "approve or reject: reason",
  clarification: "your answer",
  other: "your answer",
};

/** Reads a line. The question itself stands in the output already, as one of its lines. */
const askByLine: Put = async (question, { stdin, stdout }, signal) => {
  const lines = createInterface({ input: stdin, output: stdout, terminal: false });
  // At the end of the input nobody will answer any more.
  const ended = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    for (let complaint = question.error; ;) {
      if (complaint !== undefined) stdout.write(`${oneLine(complaint)}\n`);
      const words = await Promise.race([lines.question(`${WAYS[question.kind]} > `, { signal }), ended]);
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
