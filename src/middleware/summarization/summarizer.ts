import { AIMessage, HumanMessage, SystemMessage, type BaseMessage } from "@langchain/core/messages";
import { headAndTail } from "../../files/text/index.ts";
import { marks } from "../../marks.ts";
import { failureOf, withoutThoughts } from "../../models/index.ts";
import { foreign } from "../../plan/render/index.ts";
import { conversationText, HEADING, textOf } from "../conversation-file/index.ts";
import { filled, shortened } from "../text/index.ts";
import {
  SUMMARIZER_PARTS,
  SUMMARIZER_PROMPT,
  SUMMARY_KEPT,
  SUMMARY_PART,
  SUMMARY_PLAN,
  SUMMARY_REQUEST,
} from "./summary.prompt.ts";

/** Sends messages to a model. */
export type Send = (messages: BaseMessage[]) => Promise<unknown>;

/** The material of a summary. */
export interface SummaryMaterial {
  /** The messages to summarize, and those after them. */
  goes: readonly BaseMessage[];
  stays: readonly BaseMessage[];
  /** The current summary of the messages before them. */
  earlier: string | undefined;
  /** The user's words, which will stand next to the summary. */
  words: string;
  plan: string;
}

export interface Summarizer {
  /** Asks the agent's model as the next turn of its conversation; undefined if that is not possible. */
  inConversation: ((request: HumanMessage) => Promise<unknown>) | undefined;
  /** Asks a model that gets the conversation as text. */
  send: Send;
  /** The most tokens of a request to `send`. */
  limit: number;
  /** The application's own request for a summary. */
  prompt: string | undefined;
}

/** Asks a model for a summary. Throws errors of the model, and for an answer without a summary. */
export async function writeSummary(material: SummaryMaterial, summarizer: Summarizer): Promise<string> {
  const { inConversation, prompt } = summarizer;
  if (inConversation && prompt === undefined) {
    try {
      const text = summaryIn(await inConversation(requestFor(material)));
      if (text !== undefined) return text;
    } catch (error) {
      // A provider that refuses the conversation, for example a call without a result, may accept it as text.
      if (!["too-long", "rejected"].includes(failureOf(error).kind)) throw error;
    }
  }
  return fromText(material, summarizer);
}

function requestFor({ stays, plan }: SummaryMaterial): HumanMessage {
  const count = stays.length;
  const part = count === 0 ? SUMMARY_PART.all : filled(SUMMARY_PART.some, { count });
  const kept = count === 0 ? "" : filled(SUMMARY_KEPT, { count, first: foreign(labelOf(stays[0]!)) });
  const content = filled(SUMMARY_REQUEST, { part, kept, plan: plan === "" ? "" : SUMMARY_PLAN });
  return new HumanMessage({ content, additional_kwargs: marks({ hide_from_ui: true }) });
}

/** A short description by which the model finds a message, as it cannot count messages from the end. */
function labelOf(message: BaseMessage): string {
  const [call] = (message as AIMessage).tool_calls ?? [];
  if (call) return `your call ${call.name} ${shortened(JSON.stringify(call.args), LONGEST_NAME)}`;
  return JSON.stringify(shortened(textOf(message), LONGEST_NAME));
}

const LONGEST_NAME = 100;
const CHARACTERS_PER_TOKEN = 4;
const MOST_HALVINGS = 4;

/** Sends the conversation as text, in as many parts as needed, each with the summary so far. */
async function fromText(material: SummaryMaterial, { send, limit, prompt }: Summarizer): Promise<string> {
  let size = limit * CHARACTERS_PER_TOKEN;
  let { earlier } = material;
  let rest = conversationText(material.goes);
  for (let halvings = 0; rest !== "";) {
    const around = surroundings(material, size);
    const room = Math.max(
      size / 4,
      size - [SUMMARIZER_PROMPT, earlier, ...Object.values(around)].join("").length,
    );
    const part = rest.length <= room ? rest : wholeMessages(rest, room);
    const { words, plan, kept } = around;
    const isLast = part.length === rest.length;
    const parts = isLast ? { earlier, words, plan, conversation: part, kept } : { earlier, words, part };
    let answer: unknown;
    try {
      answer = await send(prompt === undefined ? defaultRequest(parts) : customRequest(prompt, parts));
    } catch (error) {
      if (failureOf(error).kind !== "too-long" || halvings === MOST_HALVINGS) throw error;
      halvings += 1;
      size = Math.min(size, part.length) / 2;
      continue;
    }
    const text = summaryIn(answer);
    if (text === undefined) throw new Error("The model answered without a summary.");
    earlier = text;
    rest = rest.slice(part.length);
  }
  return earlier!;
}

/** The material next to the conversation, cut to its share of a request. */
function surroundings(
  { words, plan, stays }: SummaryMaterial,
  size: number,
): Record<"words" | "plan" | "kept", string> {
  return {
    words: within(words, size / 8),
    plan: within(plan, size / 8),
    kept: within(conversationText(stays), size / 4),
  };
}

function within(text: string, most: number): string {
  if (text.length <= most) return text;
  const { head, tail } = headAndTail(text, most);
  return `${head}\n[…]\n${tail}`;
}

/** The beginning of a conversation, cut before a message if one is near, else at the end of a line. */
function wholeMessages(text: string, length: number): string {
  const part = text.slice(0, Math.floor(length));
  const ends = [part.lastIndexOf(`\n${HEADING}`), part.lastIndexOf("\n")].map((at) => at + 1);
  return part.slice(
    0,
    ends.find((end) => end > part.length / 2),
  );
}

type Parts = { [Name in keyof typeof SUMMARIZER_PARTS]?: string | undefined };

function defaultRequest(parts: Parts): BaseMessage[] {
  const content = Object.entries(SUMMARIZER_PARTS)
    .flatMap(([name, title]) => {
      const text = parts[name as keyof Parts];
      if (!text) return [];
      // The user's words are between tags of their own, each of them without others.
      const shown = name === "words" ? text.trimEnd() : foreign(text.trimEnd());
      return [`<${name}>\n${title}:\n${shown}\n</${name}>`];
    })
    .join("\n\n");
  return [new SystemMessage(SUMMARIZER_PROMPT), new HumanMessage(content)];
}

function customRequest(prompt: string, parts: Parts): BaseMessage[] {
  const text = defaultRequest(parts)[1]!.text;
  const hasPlaceholder = prompt.includes("{messages}");
  return [
    new HumanMessage(hasPlaceholder ? prompt.replace("{messages}", () => text) : `${prompt}\n\n${text}`),
  ];
}

/** The summary in an answer, without thoughts; undefined if there is none. */
function summaryIn(answer: unknown): string | undefined {
  if (!AIMessage.isInstance(answer) || (answer.tool_calls ?? []).length > 0) return undefined;
  const text = withoutThoughts(answer.text).trim();
  return text === "" ? undefined : text;
}
