import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { isFromUser } from "../../middleware/from-user.ts";
import { withoutThoughts } from "../../models/thinking/thoughts.ts";
import type { RunAgent } from "../prepare/agent.ts";
import { goOnInput } from "./continue.ts";
import { questionsOf } from "./thread.ts";

/** Where a thread stands that somebody comes back to. */
export interface Standing {
  /** What the user said last, and the agent to that. */
  asked?: string | undefined;
  answer?: string | undefined;
  /** Whether it was stopped in the middle, and whether a question waits there. */
  isStopped: boolean;
  isWaiting: boolean;
}

export async function standingOf(agent: RunAgent, thread: string): Promise<Standing> {
  const state = await agent.graph.getState({ configurable: { thread_id: thread } });
  const { messages = [] } = state.values as { messages?: BaseMessage[] };
  const asked = messages.findLastIndex(isFromUser);
  const answer = messages.slice(asked + 1).findLast((message) => AIMessage.isInstance(message));
  return {
    asked: messages[asked]?.text,
    answer: answer && withoutThoughts(answer.text),
    isStopped: goOnInput(state) === null,
    isWaiting: (await questionsOf(agent, state)).length > 0,
  };
}
