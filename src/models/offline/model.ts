import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { ToolDefinition } from "@langchain/core/language_models/base";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { getCurrentTaskInput } from "@langchain/langgraph";
import { attempt } from "../../errors.ts";
import { PlayedModel } from "../played-model/index.ts";
import { type Answer, type Call, type Conversation, type Item, readConversation } from "./conversation.ts";
import { playDemo } from "./demo/demo.ts";
import { DEMO_ELSEWHERE, NOT_A_SURVEY, SUMMARIZED } from "./offline.prompt.ts";
import { cancelling, canPlan, isOpen } from "./plan.ts";
import { doJob, JOBS } from "./survey/jobs.ts";
import { survey } from "./survey/survey.ts";

/** Options of `OfflineModel`. */
export interface OfflineModelOptions {
  /** Delays in milliseconds before each answer, and before each word of a stream, so that people can follow. */
  pace?: { thinkMs?: number; wordMs?: number };
  /** The program: `offline` surveys a directory, `demo` plays a task in a scratch project. Default `offline`. */
  name?: PlayedName;
}

/**
 * A program in place of a model. `offline` surveys a directory through an agent's file tools, with a plan and
 * sub-agents, and writes a report to `survey.md`; `demo` does the coding task of `holdfast demo`. Declines other
 * requests. An answer depends only on the request and the plan in the graph's state, so a run can continue in another
 * process, and runs are reproducible.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { diskBackend } from "holdfast/files";
 * import { OfflineModel } from "holdfast/models";
 *
 * const agent = createDeepAgent({ model: new OfflineModel(), backend: diskBackend("./my-project") });
 * await agent.invoke({ messages: "Survey this directory" });
 * ```
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

  /** A very large context window: only very long conversations are summarized. */
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
    const { todos } = attempt(() => getCurrentTaskInput<{ todos?: Item[] }>()) ?? {};
    const reply = answerTo(messages, names, { name: this.model, todos });
    const id = `${this.model}-${hashOf(messages)}`;
    const { text: content, calls } = partsOf(reply);
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
      ...(isDeclined(reply) && { finish_reason: "refusal" }),
    };
    return Object.assign(new AIMessage({ ...answer, response_metadata }), { usage_metadata });
  }
}

function partsOf(answer: Answer): { text: string; calls: Call[] } {
  if (typeof answer === "string") return { text: answer, calls: [] };
  return Array.isArray(answer) ? { text: "", calls: answer } : answer;
}

/** A hash of the request, for the id of its answer: ids of parallel sub-agents must differ. */
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

/** Estimates tokens like LangChain: four characters each. */
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
/** More than any survey needs. */
const MOST_TURNS = 400;

const VERB = /\bsurvey(?:s|ing)?\b/i;
const LEAD_IN = String.raw`${VERB.source}(?:\s+(?:of|the|this|my|in|at))*(?:\s+(?:folder|directory))?:?\s+`;
const QUOTED = new RegExp(`${LEAD_IN}["'\`“‘]([^"'\`“”‘’\n]+)["'\`”’]`, "i");
const WITH_SLASH = new RegExp(String.raw`${LEAD_IN}((?:\.|[^\s/]*/)\S*)`, "i");
const NAMED = /\b(?:the|a) (?:folder|directory) (?:called |named )?([\w.-]+?)[.!?]*$/i;
/** The part of a request that is searched for a folder. */
const MOST_READ = 2000;

/** The programs by the name of their model. */
const PROGRAMS = { offline: decide, demo: playDemo };

type PlayedName = keyof typeof PROGRAMS;

/** The answer of a program to a request. `todos`: the current plan. */
export function answerTo(
  messages: readonly BaseMessage[],
  tools: readonly string[],
  { name = "offline", todos }: { name?: PlayedName; todos?: readonly Item[] } = {},
): Answer {
  return PROGRAMS[name](readConversation(messages, todos), tools);
}

/** True for an answer that declines the task. */
function isDeclined(answer: Answer): boolean {
  return typeof answer === "string" && (answer.startsWith(NOT_A_SURVEY) || answer === DEMO_ELSEWHERE);
}

function decide(conversation: Conversation, tools: readonly string[]): Answer {
  const { request, turns, isSummarized } = conversation;
  if (turns > MOST_TURNS) return `I stopped after ${MOST_TURNS} turns.`;
  const job = JOBS.find(({ title }) => request.startsWith(`${title}:`));
  if (!job && !VERB.test(request) && !isSummarized) return NOT_A_SURVEY;
  const missing = NEEDED.filter((name) => !tools.includes(name));
  if (missing.length > 0)
    return `${NOT_A_SURVEY}\nA survey needs the file tools; ${missing.join(", ")} are not there.`;
  if (isSummarized) {
    const cancelled = canPlan(tools) ? cancelling(conversation.todos.filter(isOpen)) : [];
    return cancelled.length > 0 ? cancelled : SUMMARIZED;
  }
  return job ? doJob(job, conversation, tools) : survey(conversation, folderIn(request), tools);
}

/** The path of the folder that a request names; the root if it names none. */
export function folderIn(request: string): string {
  const text = request.slice(0, MOST_READ);
  const path = QUOTED.exec(text)?.[1] ?? WITH_SLASH.exec(text)?.[1]?.replace(/[.,;:!?)]+$/, "");
  const name = path ?? NAMED.exec(text)?.[1] ?? "";
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  return `/${parts.join("/")}`;
}
