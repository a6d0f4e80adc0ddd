import type { BaseMessage } from "@langchain/core/messages";
import { shortened } from "../middleware/text/index.ts";
import type { Verdict } from "./report.ts";

/** The start or the end of a sub-agent's work, on LangGraph's `custom` stream. */
export interface SubagentEvent {
  type: "subagent-start" | "subagent-end";
  version: 1;
  /** The sub-agent's place, by its title where it has one: `main/researcher:call_7`. Its plan's events have it, too. */
  owner: string;
  name: string;
  /** The tool call that started it. */
  call: string;
  description: string;
  todoId?: string;
  /** Epoch milliseconds. */
  at: number;
  /** At the end: whether it is done, and what is missing or why it failed if it is not. */
  ok?: boolean;
  verdict?: Verdict["result"];
  error?: string;
}

/** Verdicts on sub-agents that are not done, by the call that started them. */
export type Failures = Readonly<Record<string, Verdict>>;

/** In a message with reports: the verdicts that are not "done". */
const FAILURES = "holdfast_failed";

/** Notes in a message which sub-agents are not done, and why. */
export function markFailures(message: BaseMessage, failures: Failures): void {
  if (Object.keys(failures).length === 0) return;
  message.additional_kwargs = { ...message.additional_kwargs, [FAILURES]: failures };
}

export function failuresIn({ additional_kwargs }: BaseMessage): Failures {
  return (additional_kwargs[FAILURES] ?? {}) as Failures;
}

/** In the answer to a task: how its sub-agent is asked again. */
const HELPER = "holdfast_helper";

/** A sub-agent that can be asked again: its id for the model, its kind, and the namespace of its checkpoints. */
export interface HelperMark {
  id: string;
  kind: string;
  ns: string;
}

export function markHelper(message: BaseMessage, mark: HelperMark): void {
  message.additional_kwargs = { ...message.additional_kwargs, [HELPER]: mark };
}

/** The sub-agents of a conversation, by id. */
export function helpersIn(messages: readonly BaseMessage[]): Map<string, HelperMark> {
  const marks = messages.flatMap(({ additional_kwargs: { [HELPER]: mark } }) => (mark as HelperMark) ?? []);
  return new Map(marks.map((mark) => [mark.id, mark]));
}

const LONGEST_TITLE = 40;

/** The name of a sub-agent at work: its title as a part of a place, or else the name that it was called by. */
export function labelOf(name: string, title: unknown): string {
  const words = typeof title === "string" ? title.replaceAll(/[/:\s]+/g, " ").trim() : "";
  return words === "" ? name : shortened(words, LONGEST_TITLE);
}

/** A call in a message of the model. */
export interface TurnCall {
  id?: string;
  name: string;
  args: object;
}

/** Sub-agents whose names say nothing about their task. */
const PLAIN = ["general-purpose", "reader"];

/**
 * The title of a task, by the calls of its turn: the given one. Where there is none and the sub-agent's name does not
 * tell it from others, the words of its description that do.
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
  if (others.length === 0 && !PLAIN.includes(kind)) return undefined;
  if (head !== undefined && !others.some((other) => other.head === head)) return head;
  if (others.length === 0) return words.join(" ");
  const distinct = words.flatMap((word, at) =>
    apartFrom(
      word,
      others.map((other) => other.words[at]),
    ),
  );
  return [...new Set(distinct)].slice(0, MOST_WORDS).join(" ") || words.join(" ");
}

const MOST_WORDS = 4;

/** The part of a word that not all others have: of a path its own segments. */
function apartFrom(word: string, others: readonly (string | undefined)[]): string[] {
  if (others.every((other) => other === word)) return [];
  const parts = word.split("/");
  const shared = others.map((other) => other?.split("/") ?? []);
  const own = parts.filter((part, at) => part !== "" && !shared.every((other) => other[at] === part));
  return own.length > 0 ? [own.join("/").replace(/[.,;:]$/, "")] : [];
}

/** The words in front of a colon, at the beginning of a description. */
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

/** Recognizes a `SubagentEvent` among the chunks of a custom stream. */
export function isSubagentEvent(chunk: unknown): chunk is SubagentEvent {
  const { type } = (chunk ?? {}) as { type?: unknown };
  return type === "subagent-start" || type === "subagent-end";
}
