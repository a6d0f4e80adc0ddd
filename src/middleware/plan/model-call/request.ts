import type { BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { Stage } from "../events.ts";

/** The used part of LangChain's model request. */
export interface ModelRequest {
  model: object;
  messages: BaseMessage[];
  systemMessage: SystemMessage;
  tools: readonly unknown[];
  modelSettings?: Record<string, unknown>;
  state: unknown;
  runtime: Stage & { signal?: AbortSignal };
}
