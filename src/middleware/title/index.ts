import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { withoutThoughts } from "../../models/index.ts";
import { harnessField, lastValue } from "../state/index.ts";
import { isFromUser, shortened } from "../text/index.ts";
import { TITLE_PROMPT } from "./title.prompt.ts";

/** Options of `titleMiddleware`. */
export interface TitleOptions {
  /** Writes the title. Default: no model, the beginning of the user's first message is the title. */
  model?: { invoke: (input: string, config?: object) => Promise<{ text: string }> };
  /** The most characters. Default 60. */
  maxLength?: number;
  /** Milliseconds to wait for the model after the agent's answer. Default 2,000. */
  timeout?: number;
}

/**
 * Sets a thread's `title` once, with its first answer. Adds no graph step and never fails a run.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { titleMiddleware } from "holdfast";
 *
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [titleMiddleware({ maxLength: 40 })] });
 * const { title } = await agent.invoke({ messages: "Which files are the largest?" });
 * ```
 */
export function titleMiddleware({ model, maxLength, timeout = 2000 }: TitleOptions = {}) {
  return createMiddleware({
    name: "TitleMiddleware",
    stateSchema: new StateSchema({ title: harnessField(lastValue(z.string().optional())) }),
    wrapModelCall: async (request, handler) => {
      const question = request.state.title ? undefined : firstWords(request.messages);
      if (question === undefined) return handler(request);
      const answer = await handler(request);
      if (!AIMessage.isInstance(answer) || (answer.tool_calls ?? []).length > 0) return answer;
      const modelTitle = model
        ? ask(model, question, request.runtime.signal).catch(() => undefined)
        : undefined;
      const deadline = sleep(timeout, undefined, { ref: false });
      const title = shortened((await Promise.race([modelTitle, deadline])) || question, maxLength);
      return new Command({ update: { title } });
    },
  });
}

function firstWords(messages: readonly BaseMessage[]): string | undefined {
  const first = messages.find((message) => isFromUser(message));
  return first?.text.trim() || undefined;
}

/** The most characters read of the model's answer, which should be a few words. */
const LONGEST = 1000;

async function ask(
  model: NonNullable<TitleOptions["model"]>,
  text: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { text: title } = await model.invoke(`${TITLE_PROMPT}\n\n${shortened(text, 2000)}`, {
    signal,
    tags: ["nostream"],
  });
  return withoutThoughts(title)
    .trim()
    .slice(0, LONGEST)
    .replaceAll(/^["'#\s]+|["'.\s]+$/g, "");
}
