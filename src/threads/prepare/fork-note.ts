import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { marks } from "../../marks.ts";
import { lastValue } from "../../middleware/state/index.ts";
import { FORKED } from "./agent.prompt.ts";

/** The state field with the id of the last message before each fork of a thread. */
export const FORKS = "_forks";

/**
 * Tells the model that the thread is a fork, after the last copied message. The note is at the same place in every
 * request, which keeps the provider's cache valid. `hasDisk`: files are on a disk, and a fork does not restore them.
 */
export function forkNoteMiddleware({ hasDisk }: { hasDisk: boolean }) {
  return createMiddleware({
    name: "ForkNoteMiddleware",
    stateSchema: new StateSchema({ [FORKS]: lastValue(z.array(z.string()).optional()) }),
    wrapModelCall: (request, handler) => {
      const { [FORKS]: forks = [] } = request.state as { [FORKS]?: string[] };
      if (forks.length === 0) return handler(request);
      return handler({ ...request, messages: withNotes(request.messages, forks, noteOf(hasDisk)) });
    },
  });
}

function withNotes(messages: BaseMessage[], forks: readonly string[], note: HumanMessage): BaseMessage[] {
  let isDue = false;
  return messages.flatMap((message, at) => {
    isDue ||= forks.includes(message.id ?? "");
    // Not between the results of a turn's calls.
    if (!isDue || messages[at + 1]?.type === "tool") return [message];
    isDue = false;
    return [message, note];
  });
}

function noteOf(hasDisk: boolean): HumanMessage {
  const content = `<system_reminder>${hasDisk ? FORKED.disk : FORKED.thread}</system_reminder>`;
  return new HumanMessage({ content, name: "fork_note", additional_kwargs: marks({ hide_from_ui: true }) });
}
