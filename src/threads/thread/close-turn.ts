import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { RunAgent } from "../prepare/agent.ts";
import { openCalls } from "../record/open-calls.ts";
import { NOT_FINISHED } from "./close-turn.prompt.ts";

const TOOLS = "tools";

/**
 * Ends the turn that a thread was stopped in, before something new is said to it: LangGraph drops what a step has come
 * to, also the calls of it that have finished, when other input comes. Calls that were not finished are answered.
 * Whoever calls this holds the thread.
 */
export async function closeTurn({ graph }: RunAgent, thread: string): Promise<void> {
  const config = { configurable: { thread_id: thread } };
  const { tasks, values } = await graph.getState(config);
  if (!tasks.some(({ name }) => name === TOOLS)) return;
  const { messages = [] } = values as { messages?: BaseMessage[] };
  const answers = openCalls(messages).map(
    ({ id = "", name }) =>
      new ToolMessage({ content: NOT_FINISHED, status: "error", name, tool_call_id: id }),
  );
  await graph.updateState(config, { messages: answers }, TOOLS);
}
