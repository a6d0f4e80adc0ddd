import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Todo } from "../../../plan/index.ts";
import type { RunEvent } from "../../../threads/events/index.ts";
import { answerWords, summaryWords } from "../../../threads/log/index.ts";
import { MAIN } from "../../../threads/view/index.ts";
import type { Calls } from "./calls.ts";
import { planUpdate } from "./plan-entries.ts";

export interface ConversationOptions {
  send: (update: SessionUpdate) => void;
  calls: Calls;
  capabilities: ClientCapabilities;
}

type PlanEvent = Extract<RunEvent, { type: "plan-snapshot" | "plan-change" }>;

/** Sends a run's events to an editor, live or replayed. */
export class EditorConversation {
  readonly #send: ConversationOptions["send"];
  readonly #calls: Calls;
  readonly #hasNotices: boolean;
  /** The plan's rules: an event has them only if they changed. */
  #rules: readonly string[] = [];
  /** The message id of the current answer. */
  #message = "";
  /** Whether the current answer has text, and thoughts, already. */
  #hasText = false;
  #hasThoughts = false;

  constructor({ send, calls, capabilities }: ConversationOptions) {
    this.#send = send;
    this.#calls = calls;
    this.#hasNotices = Boolean(capabilities.session?.notices);
  }

  show(event: RunEvent): void {
    switch (event.type) {
      case "plan-snapshot":
      case "plan-change":
        return this.#plan(event);
      case "model-start":
      case "model-retry":
        // Text already sent stays: the next attempt is another message.
        return event.owner === MAIN ? this.#begin() : undefined;
      case "text":
        if (event.owner !== MAIN) return;
        if (event.anew) this.#begin();
        return this.say(event.text);
      case "thought":
        return event.owner === MAIN ? this.#think(event.text) : undefined;
      case "model-end":
        if (event.owner !== MAIN || this.#hasText) return;
        // Without streaming, and in a replay, the end has the whole text.
        if (event.thoughts && !this.#hasThoughts) this.#think(event.thoughts);
        if (event.text !== "") this.say(event.text);
        return;
      case "tool-start":
        return this.#calls.start(event);
      case "tool-output":
        return this.#calls.showOutput(event);
      case "tool-end":
        return this.#calls.end(event);
      case "notice":
        return this.#notice(event.text);
      case "answer":
        return this.#notice(answerWords(event.answer, event.question));
      case "message":
        return this.showTask(event.text);
      case "summary":
      case "summary-failure":
        return event.owner === MAIN ? this.#notice(summaryWords(event)) : undefined;
      default:
    }
  }

  /** Shows an earlier message of the user. */
  showTask(text: string): void {
    this.#send({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
  }

  say(text: string): void {
    this.#hasText = true;
    this.#send({
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
      messageId: this.#message || undefined,
    });
  }

  /** Sends text as a message of its own, apart from the current answer. */
  sayAside(text: string): void {
    this.#send({
      sessionUpdate: "agent_message_chunk",
      // Some editors join all messages into one text.
      content: { type: "text", text: `\n\n${text}\n\n` },
      messageId: crypto.randomUUID(),
    });
  }

  #think(text: string): void {
    this.#hasThoughts = true;
    this.#send({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
  }

  #begin(): void {
    this.#message = crypto.randomUUID();
    this.#hasText = false;
    this.#hasThoughts = false;
  }

  #plan({ owner, todos, rules }: PlanEvent): void {
    const items = todos as Todo[];
    if (owner !== MAIN) return this.#calls.showPlan(owner, items);
    this.#rules = rules ?? this.#rules;
    this.#send(planUpdate({ todos: items, rules: this.#rules }));
  }

  #notice(text: string): void {
    if (this.#hasNotices) this.#send({ sessionUpdate: "notice", severity: "info", title: text });
    else this.#think(`${text}\n`);
  }
}
