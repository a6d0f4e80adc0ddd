import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { isFromUser } from "../../text/from-user.ts";
import { reportsIn } from "../messages/inline-argument.ts";
import type { PlanSetup } from "../setup.ts";
import type { PlanMemory } from "../state.ts";

/** Counters belong to a run, and a run begins with a message of the user. */
export function enterRun(
  memory: PlanMemory,
  { messages, callsBefore }: { messages: readonly BaseMessage[]; callsBefore: number },
): PlanMemory {
  const last = messages.findLast((message) => isFromUser(message));
  // After a summary there may be none left; then it is still the run that it was.
  const run = last?.id ?? memory.run;
  return run === memory.run ? memory : { ...memory, run, callsBefore, rounds: 0, nags: 0, exits: 0 };
}

/** How many calls to other tools the last turn finished successfully. */
export function finishedCalls(messages: readonly BaseMessage[], { toolNames }: PlanSetup): number {
  const turn = messages.findLastIndex((message) => AIMessage.isInstance(message));
  return messages
    .slice(turn + 1)
    .filter((message) => ToolMessage.isInstance(message) && message.status !== "error")
    .filter((message) => !toolNames.includes(message.name ?? "")).length;
}

/** Whether the model has worked on the plan since the user last said something, by itself or through a sub-agent. */
export function hasPlanned(messages: readonly BaseMessage[], { toolNames }: PlanSetup): boolean {
  const start = messages.findLastIndex((message) => isFromUser(message));
  return messages.slice(start + 1).some((message) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    return (
      reportsIn(message).length > 0 ||
      calls.some(({ name, args }) => toolNames.includes(name) || typeof args["todo_id"] === "string")
    );
  });
}
