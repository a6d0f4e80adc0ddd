import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { AIMessageChunk } from "@langchain/core/messages";
import { thoughtsOf } from "../../../models/thinking/thoughts.ts";
import { MAIN } from "../../../threads/events/view.ts";
import { callerOf } from "../../../threads/record/recorder.ts";

/** Hears what the main agent's model thinks, where its provider tells. */
export class Thoughts extends BaseCallbackHandler {
  name = "holdfast-thoughts";
  override awaitHandlers = true;
  readonly #tell: (text: string) => void;
  readonly #heard = new Set<string>();

  constructor(tell: (text: string) => void) {
    super();
    this.#tell = tell;
  }

  override handleChatModelStart(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleChatModelStart"]>>
  ): void {
    const [, , runId, , , tags, metadata] = args;
    const { owner, isHidden } = callerOf(tags, metadata);
    if (!isHidden && owner === MAIN) this.#heard.add(runId);
  }

  override handleLLMNewToken(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleLLMNewToken"]>>
  ): void {
    const [, , runId, , , fields] = args;
    if (!this.#heard.has(runId)) return;
    const { message } = (fields?.chunk ?? {}) as { message?: AIMessageChunk };
    const thought = message ? thoughtsOf(message) : "";
    if (thought !== "") this.#tell(thought);
  }

  override handleLLMEnd(_output: unknown, runId: string): void {
    this.#heard.delete(runId);
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#heard.delete(runId);
  }
}
