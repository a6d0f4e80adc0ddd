import { isCancel, select, text } from "@clack/prompts";
import { HarnessError } from "../../errors.ts";
import { renderMarkdown } from "../../plan/index.ts";
import { editedPlan, readAnswer, type Question } from "../../runs/questions.ts";
import { edit } from "./editor.ts";
import { questionLines } from "./output/lines.ts";
import { paintOf, type Terminal } from "./terminal.ts";

const OWN_WORDS = "other";

/** Puts a question to the person at the terminal. Undefined when they would rather not answer now (Ctrl-C). */
export async function ask(question: Question, terminal: Terminal, signal: AbortSignal): Promise<unknown> {
  const { stdout, stdin } = terminal;
  const streams = { input: stdin, output: stdout, signal };
  stdout.write(`\n${questionLines({ ...question, options: [] } as never, paintOf(terminal)).join("\n")}\n`);
  if (question.kind === "clarification" || question.kind === "other") {
    return answerFreely(question, streams);
  }
  const canEdit = question.kind === "plan-approval";
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
  if (choice === "approve") return readAnswer(question, "approve");
  if (choice === "edit") return editPlan(question, terminal, signal);
  const reason = await text({ ...streams, message: "Why not?", placeholder: "the agent reads this" });
  return isCancel(reason) ? undefined : readAnswer(question, `reject: ${reason ?? ""}`);
}

type Streams = { input: Terminal["stdin"]; output: Terminal["stdout"]; signal: AbortSignal };

async function answerFreely({ options }: Question, streams: Streams): Promise<unknown> {
  if (options.length > 0) {
    const choice = await select({
      ...streams,
      message: "Your answer",
      options: [
        ...options.map((option) => ({ value: option, label: option })),
        { value: OWN_WORDS, label: "Something else" },
      ],
    });
    if (isCancel(choice)) return undefined;
    if (choice !== OWN_WORDS || options.includes(OWN_WORDS)) return choice;
  }
  const words = await text({ ...streams, message: "Your answer" });
  return isCancel(words) ? undefined : (words ?? "");
}

async function editPlan(question: Question, terminal: Terminal, signal: AbortSignal): Promise<unknown> {
  const markdown = await edit(renderMarkdown(question.todos ?? []), { name: "plan.md", env: terminal.env });
  try {
    return editedPlan(markdown);
  } catch (error) {
    const known = HarnessError.from(error);
    if (!known) throw error;
    return ask({ ...question, error: known.message }, terminal, signal);
  }
}
