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
  /** Writes the title, beside the agent's own model. Without one the user's words are cut to length. */
  model?: { invoke: (input: string, config?: object) => Promise<{ text: string }> };
  /** In characters. Default 60. */
  maxLength?: number;
  /** The milliseconds for the model after the agent's own answer. Default 2,000. */
  timeout?: number;
}

/** Gives a thread its `title`, once, with the first answer. Adds no graph step and never fails a run. */
export function titleMiddleware({ model, maxLength, timeout = 2000 }: TitleOptions = {}) {
  return createMiddleware({
    name: "TitleMiddleware",
    stateSchema: new StateSchema({ title: harnessField(lastValue(z.string().optional())) }),
    wrapModelCall: async (request, handler) => {
      const asked = request.state.title ? undefined : firstWords(request.messages);
      if (asked === undefined) return handler(request);
      const answer = await handler(request);
      if (!AIMessage.isInstance(answer) || (answer.tool_calls ?? []).length > 0) return answer;
      const written = model ? ask(model, asked, request.runtime.signal).catch(() => undefined) : undefined;
      const late = sleep(timeout, undefined, { ref: false });
      const title = shortened((await Promise.race([written, late])) || asked, maxLength);
      return new Command({ update: { title } });
    },
  });
}

function firstWords(messages: readonly BaseMessage[]): string | undefined {
  const first = messages.find((message) => isFromUser(message));
  return first?.text.trim() || undefined;
}

/** The characters of a model's answer that are read: it was asked for a few words. */
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
