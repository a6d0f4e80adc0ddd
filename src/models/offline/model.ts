import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { ToolDefinition } from "@langchain/core/language_models/base";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { PlayedModel } from "../played-model.ts";
import { type Answer, type Call, isTurn, readConversation, wasInterrupted } from "./conversation.ts";
import { playDemo } from "./demo/demo.ts";
import { DEMO_ELSEWHERE, NOT_A_SURVEY, SUMMARIZED } from "./offline.prompt.ts";
import { readPlan, tellNews } from "./plan/lean.ts";
import { canPlan } from "./plan/plan.ts";
import { isOpen } from "./plan/text.ts";
import { doJob, JOBS } from "./survey/jobs.ts";
import { survey } from "./survey/survey.ts";
import { reasonIn } from "./words.ts";

/** Options of `OfflineModel`. */
export interface OfflineModelOptions {
  /** Slows it down so that people can follow: milliseconds before each answer, and before each word of a stream. */
  pace?: { thinkMs?: number; wordMs?: number };
  /** The program: `offline` surveys a directory, `demo` plays a task in a scratch project. Default `offline`. */
  name?: PlayedName;
}

/**
 * Plays the model's part in one real job without being one. `offline` surveys a directory through an agent's file
 * tools, with a plan and sub-agents, and writes a report to `survey.md`; `demo` plays the coding task of
 * `holdfast demo`. Anything else it declines. An answer depends on the request alone, so a run can go on in another
 * process, and two runs are the same.
 */
export class OfflineModel extends PlayedModel {
  readonly model: PlayedName;
  readonly #pace: { thinkMs: number; wordMs: number };

  constructor({ pace = {}, name = "offline" }: OfflineModelOptions = {}) {
    super({});
    this.model = name;
    this.#pace = { thinkMs: 0, wordMs: 0, ...pace };
  }

  static override lc_name(): string {
    return "OfflineModel";
  }

  override _llmType(): string {
    return this.model;
  }

  /** A very large window: only very long conversations are summarized. */
  override get profile(): ModelProfile {
    return { maxInputTokens: 1_000_000, toolCalling: true };
  }

  protected override pause(signal: AbortSignal | undefined): Promise<void> {
    return wait(this.#pace.wordMs, signal);
  }

  protected override async answer(
    messages: BaseMessage[],
    tools: ToolDefinition[],
    signal: AbortSignal | undefined,
  ): Promise<AIMessage> {
    signal?.throwIfAborted();
    await wait(this.#pace.thinkMs, signal);
    const names = tools.map((tool) => tool.function.name);
    const said = answerTo(messages, names, this.model);
    const id = `${this.model}-${hashOf(messages)}`;
    const { text: content, calls } = partsOf(said);
    const tool_calls = calls.map((call, index) => ({
      ...call,
      type: "tool_call" as const,
      id: `${id}-${index + 1}`,
    }));
    const answer = { id, content, tool_calls };
    const [input_tokens, output_tokens] = [
      countTokens(messages, tools),
      countTokens([new AIMessage(answer)]),
    ];
    const usage_metadata = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    const response_metadata = {
      model_name: this.model,
      ...(isDeclined(said) && { finish_reason: "refusal" }),
    };
    return Object.assign(new AIMessage({ ...answer, response_metadata }), { usage_metadata });
  }
}

function partsOf(said: Answer): { text: string; calls: Call[] } {
  if (typeof said === "string") return { text: said, calls: [] };
  return Array.isArray(said) ? { text: "", calls: said } : said;
}

/** The id of an answer follows from the request: sub-agents answer side by side, and their ids must differ. */
function hashOf(messages: readonly BaseMessage[]): string {
  const hash = createHash("sha256");
  for (const message of messages) {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    hash.update(
      JSON.stringify([message.getType(), message.text, calls.map(({ name, args }) => [name, args])]),
    );
  }
  return hash.digest("hex").slice(0, 12);
}

/** Counts tokens as LangChain's own estimate does: four characters each. */
function countTokens(messages: readonly BaseMessage[], tools: readonly object[] = []): number {
  const texts = messages.flatMap((message) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    return [message.text, ...calls.map(({ name, args }) => name + JSON.stringify(args))];
  });
  const characters = [...texts, ...tools.map((tool) => JSON.stringify(tool))];
  return Math.ceil(characters.reduce((sum, text) => sum + text.length, 0) / 4);
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms > 0) await setTimeout(ms, undefined, signal && { signal });
}

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
type PlayedName = keyof typeof PARTS;

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

/** True for an answer that turns the task down. */
function isDeclined(answer: Answer): boolean {
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
