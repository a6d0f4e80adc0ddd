import type { BaseMessage } from "@langchain/core/messages";
import { isTurn, readConversation, wasInterrupted, type Answer } from "./conversation.ts";
import { playDemo } from "./demo/demo.ts";
import { DEMO_ELSEWHERE, NOT_A_SURVEY, SUMMARIZED } from "./offline.prompt.ts";
import { readPlan, tellNews } from "./plan/lean.ts";
import { canPlan } from "./plan/plan.ts";
import { isOpen } from "./plan/text.ts";
import { doJob, JOBS } from "./survey/jobs.ts";
import { survey } from "./survey/survey.ts";
import { reasonIn } from "./words.ts";

const NEEDED = ["ls", "glob", "grep", "read_file", "write_file"];
/** More than any survey takes. */
const MOST_TURNS = 400;

const VERB = /\bsurvey(?:s|ing)?\b/i;
const LEAD_IN = String.raw`${VERB.source}(?:\s+(?:of|the|this|my|in|at))*(?:\s+(?:folder|directory))?:?\s+`;
const QUOTED = new RegExp(`${LEAD_IN}["'\`“‘]([^"'\`“”‘’\n]+)["'\`”’]`, "i");
const WITH_SLASH = new RegExp(String.raw`${LEAD_IN}((?:\.|[^\s/]*/)\S*)`, "i");
const NAMED = /\b(?:the|a) (?:folder|directory) (?:called |named )?([\w.-]+?)[.!?]*$/i;
/** The part of a request that is searched for a folder. */
const MOST_READ = 2000;

/** The programs that play a model's part, by the model's name. */
const PARTS = { offline: decide, demo: decideDemo };

/** The name of a model whose part a program plays. */
export type PlayedName = keyof typeof PARTS;

/** The answer of a program to a request. It depends on nothing but the messages and the names of the tools. */
export function answerTo(
  messages: readonly BaseMessage[],
  tools: readonly string[],
  name: PlayedName = "offline",
): Answer {
  const play = PARTS[name];
  const next = play(messages, tools);
  if (typeof next === "string" || wasInterrupted(messages)) return next;
  const turn = messages.findLastIndex(isTurn);
  const before = turn < 0 ? undefined : play(messages.slice(0, turn), tools);
  // The same calls again would have the same results.
  if (JSON.stringify(before) !== JSON.stringify(next)) return next;
  const last = readConversation(messages).calls.at(-1);
  return `I stopped, because a call came to nothing${last ? `: ${last.name} answered "${reasonIn(last)}"` : ""}.`;
}

/** Whether an answer turns the task down. */
export function isDeclined(answer: Answer): boolean {
  return typeof answer === "string" && (answer.startsWith(NOT_A_SURVEY) || answer === DEMO_ELSEWHERE);
}

function decideDemo(messages: readonly BaseMessage[], tools: readonly string[]): Answer {
  return playDemo(readConversation(messages), tools);
}

function decide(messages: readonly BaseMessage[], tools: readonly string[]): Answer {
  const conversation = readConversation(messages);
  const { request, turns } = conversation;
  if (turns > MOST_TURNS) return `I stopped after ${MOST_TURNS} turns.`;
  const job = JOBS.find(({ title }) => request.startsWith(`${title}:`));
  const isSummarized = request === "" && messages.some(isSummary);
  if (!job && !VERB.test(request) && !isSummarized) return NOT_A_SURVEY;
  const missing = NEEDED.filter((name) => !tools.includes(name));
  if (missing.length > 0)
    return `${NOT_A_SURVEY}\nA survey needs the file tools; ${missing.join(", ")} are not there.`;
  if (isSummarized) {
    const view = readPlan(conversation);
    const cancelled = view.items.filter(isOpen);
    const news = { completed: [], cancelled, blocked: [], current: [] };
    return canPlan(tools) && cancelled.length > 0 ? tellNews(news, view) : SUMMARIZED;
  }
  return job ? doJob(job, conversation, tools) : survey(conversation, folderIn(request), tools);
}

/** The folder that a request names, as a path; the root when it names none. */
export function folderIn(request: string): string {
  const text = request.slice(0, MOST_READ);
  const path = QUOTED.exec(text)?.[1] ?? WITH_SLASH.exec(text)?.[1]?.replace(/[.,;:!?)]+$/, "");
  const name = path ?? NAMED.exec(text)?.[1] ?? "";
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  return `/${parts.join("/")}`;
}

function isSummary(message: BaseMessage): boolean {
  return message.additional_kwargs["lc_source"] === "summarization";
}
