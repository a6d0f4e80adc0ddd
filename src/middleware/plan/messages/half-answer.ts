import { AIMessage, type BaseMessage, type MessageContent } from "@langchain/core/messages";
import { hiddenMessage } from "../../text/index.ts";
import { copyOf, setCalls } from "../../tools/index.ts";
import type { ModelAnswer } from "./answer.ts";
import { HALF_ANSWER } from "./broken-calls.prompt.ts";
import { isCutOff } from "./final-answer.ts";

/** How often a model continues one answer. */
const MAX_PARTS = 8;

/** An answer of one request that ended at the output limit, which the model continues until it is whole. */
export class HalfAnswer {
  readonly #tag: string;
  #text = "";
  #parts = 0;

  constructor(tag: string) {
    this.#tag = tag;
  }

  /**
   * The messages with which the model continues an answer that was cut off. None if the answer is whole, calls tools, or
   * adds nothing: then it gets the earlier parts of its text.
   */
  ask(answer: ModelAnswer): BaseMessage[] {
    if (!AIMessage.isInstance(answer)) return [];
    if (this.#text !== "") setCalls(answer, { content: withFront(this.#text, answer.content) });
    const isHalf = isCutOff(answer) && answer.text.length > this.#text.length && !callsTools(answer);
    if (!isHalf || this.#parts === MAX_PARTS) return [];
    this.#parts += 1;
    this.#text = answer.text;
    const reminder = `<${this.#tag}>${HALF_ANSWER}</${this.#tag}>`;
    return [copyOf(answer, {}), hiddenMessage({ name: "half_answer_reminder", text: reminder })];
  }
}

function callsTools({ tool_calls = [], invalid_tool_calls = [] }: AIMessage): boolean {
  return tool_calls.length + invalid_tool_calls.length > 0;
}

/** A content with a text before its own text. */
function withFront(text: string, content: MessageContent): MessageContent {
  if (typeof content === "string") return text + content;
  const at = content.findIndex((block) => block.type === "text");
  if (at < 0) return [...content, { type: "text", text }];
  const first = content[at] as { text?: string };
  return content.with(at, { ...content[at]!, text: text + (first.text ?? "") });
}
