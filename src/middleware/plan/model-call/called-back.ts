import { AIMessage, type BaseMessage, type HumanMessage } from "@langchain/core/messages";
import { v4 } from "@langchain/core/utils/uuid";
import { Command, isCommand } from "@langchain/langgraph";
import { giveOwnId, setId } from "../../../langgraph/index.ts";
import { isFromUser } from "../../text/index.ts";
import { copyOf } from "../../tools/index.ts";
import { messagesOf, repeated, type Answer } from "../messages/answer.ts";
import { isFinalAnswer } from "../messages/final-answer.ts";

/** In a message's `additional_kwargs`: the answer was sent back, with the structured response in it if there was one. */
export const CALLED_BACK = "called_back";

/** The beginning of a message's id by which LangChain's user interfaces leave it out. */
const HIDDEN_ID = "do-not-render-";

interface Mark {
  structuredResponse?: unknown;
}

/**
 * The answers of one model call that were sent back, with the reminders that did so. They stay in the conversation in
 * front of the answer that came in the end: the model need not repeat them, and the next request begins as this one.
 */
export class CalledBack {
  readonly #conversation: readonly BaseMessage[];
  readonly #messages: BaseMessage[] = [];

  constructor(conversation: readonly BaseMessage[]) {
    this.#conversation = conversation;
  }

  /** Notes an answer that is sent back, and returns what the model is asked again with. */
  add(answer: Answer, reminder: HumanMessage): BaseMessage[] {
    const mark: Mark = AIMessage.isInstance(answer) ? {} : { structuredResponse: answer.structuredResponse };
    for (const message of messagesOf(answer)) {
      if (!AIMessage.isInstance(message)) continue;
      giveOwnId(message, this.#messages);
      if (this.#name !== undefined) message.name = this.#name;
      message.additional_kwargs = { ...message.additional_kwargs, [CALLED_BACK]: mark };
    }
    setId(reminder, `${HIDDEN_ID}${v4()}`);
    const added = [...repeated(answer), reminder];
    // An empty answer is no message, and a conversation cannot begin a turn of the model with a reminder.
    const isKept = this.#messages.length > 0 || AIMessage.isInstance(added[0]);
    if (isKept) this.#messages.push(...added);
    return added;
  }

  /** The result of the model call: the answer, its state update, and all answers that were sent back before it. */
  finish(answer: Answer, result: AIMessage | Command): AIMessage | Command {
    const messages = this.#messages;
    if (!AIMessage.isInstance(answer)) {
      const whole = { ...answer, messages: [...messages, ...answer.messages] };
      return messages.length > 0 ? (whole as unknown as AIMessage) : result;
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

  /** The last structured response that was sent back since the user's message. */
  #structuredResponse(): Mark | undefined {
    const all = [...this.#conversation, ...this.#messages];
    const run = all.slice(all.findLastIndex(isFromUser) + 1);
    const marks = run.map(({ additional_kwargs }) => additional_kwargs[CALLED_BACK] as Mark | undefined);
    return marks.findLast((mark) => mark !== undefined && "structuredResponse" in mark);
  }

  /**
   * The messages behind the first one. LangChain writes the model's last message before any state update: that object
   * becomes the first answer that was sent back, and the last answer is written as another one.
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

  /** The agent's name, which LangChain gives to the messages of its model. */
  get #name(): string | undefined {
    return this.#conversation.findLast((message) => AIMessage.isInstance(message))?.name;
  }
}
