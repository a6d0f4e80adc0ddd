import { AIMessage, type BaseMessage, type HumanMessage } from "@langchain/core/messages";
import { v4 } from "@langchain/core/utils/uuid";
import { Command, isCommand } from "@langchain/langgraph";
import { giveOwnId, setId } from "../../../langgraph/index.ts";
import { mark, markOf } from "../../../marks.ts";
import { isFromUser } from "../../text/index.ts";
import { copyOf } from "../../tools/index.ts";
import { forRetry, messagesOf, type ModelAnswer } from "../messages/answer.ts";
import { isFinalAnswer } from "../messages/final-answer.ts";

/** The prefix of a message's id that hides it in LangChain's user interfaces. */
const HIDDEN_ID = "do-not-render-";

/** When an answer was returned to the model: between two times, at the later one if no one has noted it. Undefined if it was not. */
export function sentBackAt(message: BaseMessage, from: number, to: number): number | undefined {
  const sentBack = markOf(message, "called_back");
  return sentBack && Math.max(from, Math.min(sentBack.at ?? to, to));
}

/** The text of the last answer in a conversation that was returned to the model; empty if there is none. */
export function sentBackIn(messages: readonly BaseMessage[]): string {
  return messages.findLast((message) => markOf(message, "called_back"))?.text ?? "";
}

/**
 * The answers of one model call that were returned to the model, each with its reminder. They stay in the conversation before
 * the final answer: the user can read them, and the next request begins like this one.
 */
export class CalledBack {
  readonly #conversation: readonly BaseMessage[];
  readonly #messages: BaseMessage[] = [];

  constructor(conversation: readonly BaseMessage[]) {
    this.#conversation = conversation;
  }

  /** Records an answer that is returned to the model, and returns the messages to add to the next request. */
  add(answer: ModelAnswer, reminder: HumanMessage, at: number): BaseMessage[] {
    const response = AIMessage.isInstance(answer) ? {} : { structuredResponse: answer.structuredResponse };
    const sentBack = { at, ...response };
    for (const message of messagesOf(answer)) {
      if (!AIMessage.isInstance(message)) continue;
      giveOwnId(message, this.#messages);
      if (this.#name !== undefined) message.name = this.#name;
      mark(message, { called_back: sentBack });
    }
    setId(reminder, `${HIDDEN_ID}${v4()}`);
    const added = [...forRetry(answer), reminder];
    // An empty answer is no message, and a reminder must not be the first message of the model's turn.
    const isKept = this.#messages.length > 0 || AIMessage.isInstance(added[0]);
    if (isKept) this.#messages.push(...added);
    return added;
  }

  /** The result of the model call: the answer, its state update, and the answers that were returned to the model before it. */
  finish(answer: ModelAnswer, result: AIMessage | Command): AIMessage | Command {
    const messages = this.#messages;
    if (!AIMessage.isInstance(answer)) {
      const joined = { ...answer, messages: [...messages, ...answer.messages] };
      return messages.length > 0 ? (joined as unknown as AIMessage) : result;
    }
    const response = isFinalAnswer(answer) ? this.#structuredResponse() : undefined;
    if (messages.length === 0 && !response) return result;
    const update = {
      ...(isCommand(result) && (result.update as Record<string, unknown>)),
      ...response,
      ...(messages.length > 0 && { messages: this.#inOrder(answer) }),
    };
    return new Command({ update });
  }

  /** The last structured response that was returned to the model since the user's last message. */
  #structuredResponse(): { structuredResponse: unknown } | undefined {
    const all = [...this.#conversation, ...this.#messages];
    const run = all.slice(all.findLastIndex(isFromUser) + 1);
    const sentBack = run.map((message) => markOf(message, "called_back"));
    const last = sentBack.findLast((one) => one !== undefined && "structuredResponse" in one);
    return last && { structuredResponse: last.structuredResponse };
  }

  /**
   * The messages after the first one. LangChain writes the model's last message object before any state update. So that
   * object becomes the first answer that was returned to the model, and the last answer becomes a new message.
   */
  #inOrder(answer: AIMessage): BaseMessage[] {
    const [first, ...others] = this.#messages as [AIMessage, ...BaseMessage[]];
    const last = copyOf(answer, {});
    giveOwnId(last, this.#messages);
    if (this.#name !== undefined) last.name = this.#name;
    for (const key of Object.keys(answer))
      if (!(key in first)) delete (answer as unknown as Record<string, unknown>)[key];
    Object.assign(answer, first);
    return [...others, last];
  }

  /** The agent's name, which LangChain sets on the messages of its model. */
  get #name(): string | undefined {
    return this.#conversation.findLast((message) => AIMessage.isInstance(message))?.name;
  }
}
