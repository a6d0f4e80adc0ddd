import { createHash } from "node:crypto";
import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessage, SystemMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { readConversation, type Answer } from "./offline/conversation.ts";
import { critique } from "./offline/critique.ts";
import { lead } from "./offline/lead.ts";
import { researcher } from "./offline/researcher.ts";
import { CRITIQUE_PROMPT, LEAD_PROMPT, RESEARCHER_PROMPT } from "./research.prompt.ts";

/**
 * Plays the model's part in this example without being one: it really plans, searches, writes and revises, and
 * every sentence of its report is quoted from a search result. What it does next follows from the messages
 * alone, so that a run can go on in another process.
 */
export class OfflineModel extends BaseChatModel {
  constructor() {
    super({});
  }

  static override lc_name(): string {
    return "offline";
  }

  override _llmType(): string {
    return "offline";
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: object,
  ): ReturnType<NonNullable<BaseChatModel["bindTools"]>> {
    return this.withConfig({ ...kwargs, tools } as object);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    options.signal?.throwIfAborted();
    const message = toMessage(answer(messages), messages);
    return { generations: [{ message, text: message.text }] };
  }
}

function answer(messages: BaseMessage[]): Answer {
  const system = messages.find((message) => SystemMessage.isInstance(message))?.text ?? "";
  const conversation = readConversation(messages);
  if (system.includes(RESEARCHER_PROMPT)) return researcher(conversation);
  if (system.includes(CRITIQUE_PROMPT)) return critique(conversation);
  if (system.includes(LEAD_PROMPT)) return lead(conversation);
  return "I am the offline model of the research example and can only play its three parts.";
}

function toMessage(said: Answer, messages: BaseMessage[]): AIMessage {
  if (typeof said === "string") return new AIMessage(said);
  // Sub-agents answer side by side: the ids of their calls must differ.
  const texts = messages.map((message) => message.text).join("\n");
  const turn = createHash("sha256").update(texts).digest("hex").slice(0, 10);
  const tool_calls = said.map(({ name, args }, index) => ({
    type: "tool_call" as const,
    name,
    args,
    id: `offline-${turn}-${index + 1}`,
  }));
  return new AIMessage({ content: "", tool_calls });
}
