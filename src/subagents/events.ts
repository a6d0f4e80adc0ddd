import type { BaseMessage } from "@langchain/core/messages";
import { mark, markOf } from "../marks.ts";
import { shortened } from "../middleware/text/index.ts";
import type { Verdict } from "./report.ts";

/** The start or the end of a sub-agent's work, as a chunk of LangGraph's `custom` stream. */
export interface SubagentEvent {
  type: "subagent-start" | "subagent-end";
  version: 1;
  /** The sub-agent's owner, with its title if it has one: `main/researcher:call_7`. The same as in its plan's events. */
  owner: string;
  name: string;
  /** The tool call that started it. */
  call: string;
  description: string;
  /** At the start: its model, where its description names one. */
  model?: string;
  todoId?: string;
  /** Epoch milliseconds. */
  at: number;
  /** At the end: whether the job is done. If not, `error` says what is missing or why it failed. */
  ok?: boolean;
  verdict?: Verdict["result"];
  error?: string;
}

/** Verdicts other than "done", by the call that started the sub-agent. */
export type Failures = Readonly<Record<string, Verdict>>;

/** Stores verdicts in a message. */
export function markFailures(message: BaseMessage, failures: Failures): void {
  if (Object.keys(failures).length === 0) return;
  mark(message, { holdfast_failed: failures });
}

export function failuresIn(message: BaseMessage): Failures {
  return (markOf(message, "holdfast_failed") ?? {}) as Failures;
}

/** A sub-agent that can be asked again. */
export interface HelperMark {
  /** Its id for the model. */
  id: string;
  kind: string;
  /** Its model, if that is not its caller's. */
  model?: string;
  /** The namespace of its checkpoints. */
  ns: string;
}

export function markHelper(message: BaseMessage, helper: HelperMark): void {
  mark(message, { holdfast_helper: helper });
}

/** The sub-agents of a conversation, by id. */
export function helpersIn(messages: readonly BaseMessage[]): Map<string, HelperMark> {
  const helpers = messages.flatMap((message) => (markOf(message, "holdfast_helper") as HelperMark) ?? []);
  return new Map(helpers.map((helper) => [helper.id, helper]));
}

const LONGEST_TITLE = 40;

/** The name of a working sub-agent for users: its title without `/` and `:`, or else the name of its kind. */
export function labelOf(name: string, title: unknown): string {
  const words = typeof title === "string" ? title.replaceAll(/[/:\s]+/g, " ").trim() : "";
  return words === "" ? name : shortened(words, LONGEST_TITLE);
}

export interface TurnCall {
  id?: string;
  name: string;
  args: object;
}

/** Sub-agents whose names say nothing about their task. */
const GENERIC = ["general-purpose", "reader"];

/**
 * The title of a `task` call: its `title`, or words of its description that distinguish it from the other calls of the
 * turn. Undefined if the sub-agent's name is enough.
 */
export function titleOf(call: string, turn: readonly TurnCall[]): string | undefined {
  const own = turn.find(({ id }) => id === call);
  if (!own) return undefined;
  const { title, kind, words, head } = taskOf(own);
  if (title !== undefined) return title;
  const others = turn
    .filter((other) => other !== own && other.name === own.name)
    .map(taskOf)
    .filter((other) => other.title === undefined && other.kind === kind);
  if (others.length === 0 && !GENERIC.includes(kind)) return undefined;
  if (head !== undefined && !others.some((other) => other.head === head)) return head;
  if (others.length === 0) return words.join(" ");
  const distinct = words.flatMap((word, at) =>
    distinctParts(
      word,
      others.map((other) => other.words[at]),
    ),
  );
  return [...new Set(distinct)].slice(0, MOST_WORDS).join(" ") || words.join(" ");
}

const MOST_WORDS = 4;

/** A word if the others differ from it, without the segments of a path that all of them share. */
function distinctParts(word: string, others: readonly (string | undefined)[]): string[] {
  if (others.every((other) => other === word)) return [];
  const parts = word.split("/");
  const shared = others.map((other) => other?.split("/") ?? []);
  const own = parts.filter((part, at) => part !== "" && !shared.every((other) => other[at] === part));
  return own.length > 0 ? [own.join("/").replace(/[.,;:]$/, "")] : [];
}

/** Matches the words before a colon at the beginning of a description. */
const HEAD = /^([^:.\n]{3,40}):\s/;

interface TaskWords {
  title: string | undefined;
  kind: string;
  words: string[];
  head: string | undefined;
}

function taskOf({ args }: TurnCall): TaskWords {
  const { title, subagent_type: kind, description } = args as Record<string, unknown>;
  const text = typeof description === "string" ? description.trim() : "";
  return {
    title: typeof title === "string" && title.trim() !== "" ? title : undefined,
    kind: String(kind).trim(),
    words: text.split(/\s+/),
    head: HEAD.exec(text)?.[1],
  };
}

/**
 * Recognizes a `SubagentEvent` among the chunks of a custom stream.
 *
 * @example
 * ```ts
 * import { createDeepAgent, isSubagentEvent } from "holdfast";
 *
 * const agent = createDeepAgent({ model: "openai:gpt-5.1" });
 * const input = { messages: [{ role: "user", content: "Research both frameworks" }] };
 * for await (const chunk of await agent.stream(input, { streamMode: "custom" })) {
 *   if (isSubagentEvent(chunk)) console.log(chunk.type);
 * }
 * ```
 */
export function isSubagentEvent(chunk: unknown): chunk is SubagentEvent {
  const { type } = (chunk ?? {}) as { type?: unknown };
  return type === "subagent-start" || type === "subagent-end";
}
