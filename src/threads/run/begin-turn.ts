import type { HumanMessage } from "@langchain/core/messages";
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
  /** Whether the text answers a clarification, where one is the only open question. Default false. */
  isAnswer?: boolean;
}

/**
 * Prepares a thread that the caller holds for a new message, and returns the input of the run: an answer to the open
 * clarification, or a message that begins a turn; the turn that the thread stopped in is ended then. In mode `plan` the
 * open plan has to be approved again, with an answer only where the mode is new.
 */
export async function beginTurn(
  thread: Thread,
  { message, text, settings, isAnswer = false }: NewTurn,
): Promise<object> {
  const state = await thread.state();
  const { title, run: before } = (state.values ?? {}) as { title?: string; run?: RunSettings };
  const [question, ...others] = isAnswer ? await thread.questions(state) : [];
  const asked = question?.kind === "clarification" && others.length === 0 ? question : undefined;
  if (asked) {
    await waitingInput(thread.agent, state, ["run", settings]);
    if (before && settings.mode === "plan" && before.mode !== "plan") await thread.proposePlan();
    return new Command({ resume: { [asked.id]: text } });
  }
  await thread.closeTurn(text);
  const named = title === undefined ? { title: titleOf(text) } : {};
  return { messages: [message], run: settings, ...named };
}

/** The title of a thread, by its first message. */
export function titleOf(text: string): string {
  return shortened(text || "A file");
}
