import type { BaseMessage } from "@langchain/core/messages";
import { convertMessagesToCompletionsMessageParams } from "@langchain/openai";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import type { ModelRequestRecord } from "../src/testing/index.ts";

export const TOKENIZERS = { o200k, cl100k } as const;
export type TokenizerName = keyof typeof TOKENIZERS;

/**
 * How a request becomes tokens. `json`: the chat request as it goes over the wire, tool arguments escaped inside their
 * string. `text`: what a model is thought to read, that is contents, names, arguments and tool definitions, with 4
 * tokens around each message and call and no ids.
 */
export const ACCOUNTINGS = ["json", "text"] as const;
export type Accounting = (typeof ACCOUNTINGS)[number];

/** The pieces of a request in order: the tool definitions, then one per message. */
export type Pieces = readonly string[];

/** Counts tokens piece by piece. A piece is encoded on its own, since providers put special tokens between messages. */
export class Counter {
  readonly #known = new Map<string, number>();
  readonly #tokenizer: TokenizerName;
  readonly #accounting: Accounting;

  constructor(tokenizer: TokenizerName, accounting: Accounting) {
    this.#tokenizer = tokenizer;
    this.#accounting = accounting;
  }

  count(pieces: Pieces): number {
    return pieces.reduce((sum, piece) => sum + this.#countPiece(piece), 0);
  }

  #countPiece(piece: string): number {
    const known = this.#known.get(piece);
    if (known !== undefined) return known;
    const count = TOKENIZERS[this.#tokenizer];
    const tokens =
      this.#accounting === "json"
        ? count(piece)
        : readTexts(piece).reduce((sum, text) => sum + count(text) + 4, 0);
    this.#known.set(piece, tokens);
    return tokens;
  }
}

/** A request as OpenAI's chat API gets it. */
export function piecesOf({ tools, messages }: ModelRequestRecord): Pieces {
  return [tools.length > 0 ? JSON.stringify(tools) : "", ...messages.map(sentForm)];
}

/** The messages of a run are the same objects in all its requests. */
const sentForms = new WeakMap<BaseMessage, string>();

function sentForm(message: BaseMessage): string {
  const known = sentForms.get(message);
  if (known !== undefined) return known;
  const sent = convertMessagesToCompletionsMessageParams({ messages: [message] });
  const form = sent.map((part) => JSON.stringify(part)).join(",");
  sentForms.set(message, form);
  return form;
}

/** How many pieces two requests have in common at their beginning. */
export function commonPrefix(before: Pieces, after: Pieces): number {
  const end = before.findIndex((piece, at) => piece !== after[at]);
  return end < 0 ? before.length : end;
}

interface SentMessage {
  content?: string | { text?: string }[] | null;
  tool_calls?: { function: { name: string; arguments: string } }[];
}

function readTexts(piece: string): string[] {
  if (piece === "" || piece.startsWith("[")) return piece ? [piece] : [];
  const { content, tool_calls = [] } = JSON.parse(piece) as SentMessage;
  const text =
    typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
  const calls = tool_calls.map((call) => `${call.function.name}${call.function.arguments}`);
  return [...(text || calls.length === 0 ? [text] : []), ...calls];
}
