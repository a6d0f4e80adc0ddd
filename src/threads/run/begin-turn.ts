import { HumanMessage, type MessageContent } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { shortened } from "../../middleware/text/shortened.ts";
import { waitingInput } from "../plan/pending-edit.ts";
import type { RunSettings } from "../prepare/settings.ts";
import type { Thread } from "../thread/thread.ts";

export interface NewTurn {
  message: HumanMessage;
  /** The message as its author typed it: the answer to a question, the title of a new thread. */
  text: string;
  /** The settings that the thread keeps. */
  settings: RunSettings;
}

/** A message with an id of its own: it is the same one when its step is run again. */
export function userMessage(content: MessageContent, id: string = crypto.randomUUID()): HumanMessage {
  return new HumanMessage({ content, id });
}

/**
 * Prepares a thread that the caller holds for a new message, and returns the input of the run. Ends the turn that the
 * thread stopped in; a message to a thread with one open clarification is its answer. Where mode `plan` is new, the
 * open plan has to be approved.
 */
export async function beginTurn(thread: Thread, { message, text, settings }: NewTurn): Promise<object> {
  const state = await thread.state();
  const { title, run: before } = (state.values ?? {}) as { title?: string; run?: RunSettings };
  const [question, ...others] = await thread.questions(state);
  const isAnswer = question?.kind === "clarification" && others.length === 0;
  if (isAnswer) await waitingInput(thread.agent, state, ["run", settings]);
  else await thread.closeTurn();
  if (before && settings.mode === "plan" && before.mode !== "plan") await thread.proposePlan();
  if (isAnswer) return new Command({ resume: { [question.id]: text } });
  const named = title === undefined ? { title: shortened(text) } : {};
  return { messages: [message], run: settings, ...named };
}
