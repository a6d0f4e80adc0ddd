import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { attempt, HarnessError } from "../../../errors.ts";
import { isObeyedFile } from "../../../files/paths/index.ts";
import { shortened } from "../../../middleware/text/index.ts";
import { isMutation } from "../../../middleware/tools/index.ts";
import { allowing, catching, compileRule, type RuledCall } from "../../../project/index.ts";
import { offersFor, ruledCall } from "../../../threads/consent/index.ts";
import type { HostThread } from "../../../threads/host/index.ts";
import { inPlainSight } from "../../../threads/json-text/index.ts";
import { answerWords } from "../../../threads/log/index.ts";
import { planItems, planRules } from "../../../threads/plan/index.ts";
import type { RunSettings } from "../../../threads/prepare/index.ts";
import { readAnswer, type Question } from "../../../threads/questions/index.ts";
import { fileChange } from "../../../threads/undo/index.ts";
import { MAIN, ownerName } from "../../../threads/view/index.ts";
import { type Mode } from "../../../vocabulary.ts";
import { fit, harmless, harmlessLines, oneLine, shown, type Harmless } from "../output/index.ts";
import { editInEditor, planText } from "../threads/index.ts";
import { questionLines, argumentLines, callText, changeLines } from "../view/index.ts";
import type { SessionConversation } from "./conversation.ts";
import type { DisplayAnswer, Display, QuestionChoice } from "./display/display.ts";

type CallToAllow = NonNullable<Question["call"]>;

/** The parts of a conversation that asking the user needs. */
export interface Asker extends Pick<SessionConversation, "terminal" | "paint" | "mode" | "agreesTo"> {
  display: Pick<Display, "ask" | "lend" | "print">;
  settings: Pick<RunSettings, "dir">;
  thread: Pick<HostThread, "read"> | undefined;
  /** Allows calls permanently; absent if a yes is for one call only. */
  allow?: (rules: readonly string[]) => Promise<void>;
}

/** Asks the user a question of a run. Undefined if they do not answer now. */
export async function answerFor(question: Question, asker: Asker): Promise<unknown> {
  const { kind, options, call } = question;
  const { display, paint } = asker;
  if (kind === "permission" && call) return permission(question, call, asker);
  if (kind === "plan-approval") return approval(question, asker);
  const choices = options.map((option): QuestionChoice => ({ value: option, label: oneLine(option) }));
  const answer = await display.ask({
    about: questionLines({ ...question, options: [] }, paint),
    question: shown`Your answer`,
    choices,
    words: shown`type your answer`,
  });
  return noted(
    answer && ("words" in answer ? readAnswer(question, answer.words) : answer.value),
    question,
    asker,
  );
}

/** Prints the user's answer below the question. Returns the answer. */
function noted(answer: unknown, { kind, call }: Question, { display, paint }: Asker): unknown {
  if (answer === undefined) return undefined;
  display.print([paint("dim", oneLine(answerWords(answer, { kind, name: call?.name })))]);
  return answer;
}

async function permission(question: Question, call: CallToAllow, asker: Asker): Promise<unknown> {
  const { display, paint, settings } = asker;
  const ruled = ruledCall(call, settings.dir);
  const { repeated, notice } = question;
  if (!repeated && !notice && !question.error && asker.agreesTo(ruled)) return { type: "approve" };
  const offers = repeated || !asker.allow ? [] : offersFor(call, ruled.path);
  const target = oneLine(
    shortened(
      callText(call.name, call.name === "execute" ? call.args : {}, inPlainSight(ruled.path ?? "")),
      MAX_TARGET,
    ),
  );
  const answer = await display.ask({
    about: [
      ...(question.error ? [paint("red", oneLine(question.error))] : []),
      ...(await callLinesFor(call, ruled, asker)),
      ...harmlessLines(question.remark ?? ""),
      ...(notice ? harmlessLines(notice).map((line) => paint("yellow", line)) : []),
    ],
    question: shown`${repeated ? shown`It may have been done before. ` : shown``}Allow it? ${target} (mode ${harmless(asker.mode)})`,
    choices: [
      { value: "approve", label: shown`yes` },
      ...offers.map(({ label }, at) => ({
        value: String(at),
        label: shown`yes, and always ${oneLine(label)}`,
      })),
      { value: "reject", label: shown`no`, key: "n" },
    ],
    isDeliberate: true,
    words: shown`or type why not`,
  });
  const offer = answer && "value" in answer ? offers[Number(answer.value)] : undefined;
  if (offer) {
    // This call is allowed even if the rule cannot be stored.
    await asker
      .allow?.(offer.rules)
      .catch((error: Error) => display.print([paint("red", oneLine(error.message))]));
    return noted({ type: "approve" }, question, asker);
  }
  return noted(decision(question, answer), question, asker);
}

function decision(question: Question, answer: DisplayAnswer): unknown {
  if (!answer) return undefined;
  if ("value" in answer) return readAnswer(question, answer.value);
  const { words } = answer;
  return attempt(() => readAnswer(question, words)) ?? readAnswer(question, `reject: ${words}`);
}

async function approval(question: Question, asker: Asker): Promise<unknown> {
  const { display, paint, terminal } = asker;
  const { todos = [], rules = [] } = question;
  let text = planText(todos, rules);
  for (let error = question.error; ;) {
    const answer = await display.ask({
      about: questionLines({ ...question, options: [], error }, paint),
      question: shown`Work on this plan?`,
      choices: [
        { value: "approve", label: shown`yes` },
        { value: "edit", label: shown`yes, after I edited it` },
        { value: "reject", label: shown`no`, key: "n" },
      ],
      words: shown`or type what to change`,
    });
    if (!answer || "words" in answer || answer.value !== "edit") {
      return noted(decision(question, answer), question, asker);
    }
    try {
      text = await display.lend(() => editInEditor(text, terminal.env));
      const edit = { type: "edit", todos: planItems(text, todos), rules: planRules(text) };
      return noted(edit, question, asker);
    } catch (failure) {
      const refusal = HarnessError.from(failure);
      if (!refusal) throw failure;
      error = refusal.message;
    }
  }
}

/** The most characters of a call in the line of the question. */
const MAX_TARGET = 50;

/** The most displayed lines of a change. */
const MAX_LINES = 200;

/** Describes a call: a write as a diff, a command as it would be typed, others with their arguments. */
async function callLinesFor(call: CallToAllow, ruled: RuledCall, asker: Asker): Promise<Harmless[]> {
  const { paint } = asker;
  const { owner, name, args } = call;
  const who = owner === MAIN ? shown`` : shown`${paint("magenta", oneLine(ownerName(owner)))} wants `;
  const path = "file_path" in args ? ruled.path : undefined;
  if (name === "execute") {
    const command = harmlessLines(inPlainSight(commandOf(call)));
    return [shown`${who}${paint("bold", shown`$ ${command[0] ?? shown``}`)}`, ...command.slice(1)];
  }
  const content = path === undefined ? undefined : await contentOf(path, asker).catch(() => undefined);
  const change = fileChange(name, args, content);
  const head = shown`${who}${paint("bold", callText(name, {}, inPlainSight(path ?? "")))}`;
  if (!change) return [head, ...argumentLines(args, paint)];
  const lines = changeLines(change, paint);
  const rest = lines.length - MAX_LINES;
  return [
    shown`${head} ${paint("dim", shown`+${change.added} −${change.removed}`)}`,
    ...lines.slice(0, MAX_LINES).map((line) => fit(line, 400)),
    ...(rest > 0 ? [paint("dim", shown`… ${rest} more lines`)] : []),
  ];
}

/** The content of a file in the directory, or in the thread if it has no directory. */
async function contentOf(path: string, { settings, thread }: Asker): Promise<string | undefined> {
  if (settings.dir !== undefined) return readFile(join(settings.dir, path), "utf8");
  return thread && (await (await thread.read()).content()).files[path];
}

function commandOf({ args }: Pick<CallToAllow, "args">): string {
  const { command } = args;
  return typeof command === "string" ? command : "";
}

/** Consent that the user has given since a turn began. It answers questions that were asked before. */
export class Agreement {
  readonly #now: Pick<SessionConversation, "mode" | "project" | "settings">;
  readonly #mode: Mode;
  readonly #ruleCount: number;

  constructor(now: Pick<SessionConversation, "mode" | "project" | "settings">) {
    this.#now = now;
    this.#mode = now.mode;
    this.#ruleCount = now.project.config.allow?.length ?? 0;
  }

  covers(call: RuledCall): boolean {
    const { mode, project, settings } = this.#now;
    const askRules = [...(project.config.ask ?? []), ...settings.ask].map(compileRule);
    const allow = (project.config.allow ?? []).map(compileRule);
    // These are asked for in every mode, whatever else is allowed.
    if (catching(askRules, allow, call) || isObeyedFile(call.path ?? "")) return false;
    const isWrite = isMutation(call.tool);
    if (mode !== this.#mode && (mode === "auto" || (mode === "edits" && isWrite))) return true;
    return allowing(allow.slice(this.#ruleCount), call).length > 0;
  }
}
