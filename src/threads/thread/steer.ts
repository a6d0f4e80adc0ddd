import { HumanMessage, type BaseMessage, type MessageContent } from "@langchain/core/messages";
import type { StateSnapshot } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { waitingInput } from "../plan/pending-edit.ts";
import type { RunAgent } from "../prepare/agent.ts";
import { openCalls } from "../record/open-calls.ts";

/**
 * Tells the agent of a thread that stopped between two steps something, so that it reads it in its next model call,
 * behind the results that are there. Throws `turn-unfinished` while calls of the turn are due, as their results come
 * first, and `run-ended` where no model call is to come: then it is the next task.
 */
export async function steer(agent: RunAgent, thread: string, words: MessageContent): Promise<void> {
  const state = await agent.graph.getState({ configurable: { thread_id: thread } });
  if (state.tasks.length === 0) {
    throw new HarnessError("run-ended", "The run has ended: give it as the next task.");
  }
  if (isCallDue(state)) {
    throw new HarnessError("turn-unfinished", `Calls of ${thread} are under way: their results come first.`);
  }
  // With an id of its own the message is the same one when the step is run again.
  const message = new HumanMessage({ content: words, id: crypto.randomUUID() });
  await waitingInput(agent, state, ["messages", [message]]);
}

function isCallDue({ values, tasks }: StateSnapshot): boolean {
  if (tasks.some(({ interrupts }) => interrupts.length > 0)) return true;
  const { messages = [] } = values as { messages?: BaseMessage[] };
  return openCalls(messages).length > 0;
}
