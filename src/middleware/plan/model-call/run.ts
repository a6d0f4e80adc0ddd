import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { isClosed, type Todo } from "../../../plan/index.ts";
import { isFromUser } from "../../text/index.ts";
import { lastTurn } from "../../tools/index.ts";
import { reportsIn } from "../messages/inline-argument.ts";
import { itemsAbout, wordsOf } from "../plan-call/item-words.ts";
import type { PlanSetup } from "../setup.ts";
import type { PlanMemory } from "../state.ts";

/** Resets the memory's counters at the start of a run, which begins with a message of the user. */
export function enterRun(
  memory: PlanMemory,
  { messages, callsBefore }: { messages: readonly BaseMessage[]; callsBefore: number },
): PlanMemory {
  const last = messages.findLast((message) => isFromUser(message));
  // After a summary there may be no such message left: then the run continues.
  const run = last?.id ?? memory.run;
  return run === memory.run ? memory : { ...memory, run, callsBefore, rounds: 0, nags: 0, exits: 0 };
}

/** The number of calls to other tools that the last turn finished successfully. */
export function finishedCalls(messages: readonly BaseMessage[], { toolNames }: PlanSetup): number {
  return lastTurn(messages).results.filter(
    ({ status, name = "" }) => status !== "error" && !toolNames.includes(name),
  ).length;
}

/**
 * Whether the user's last message is about items of an older plan that are all closed now, so that it did not ask for
 * the others. A message that led to a plan asks for all of it.
 */
export function isPartDone(
  messages: readonly BaseMessage[],
  { todos, setup }: { todos: readonly Todo[]; setup: PlanSetup },
): boolean {
  const start = messages.findLastIndex((message) => isFromUser(message));
  const { name: write } = setup.preset.tools.write;
  const writes = (message: BaseMessage): boolean =>
    AIMessage.isInstance(message) && (message.tool_calls ?? []).some(({ name }) => name === write);
  if (start < 0 || !messages.slice(0, start).some(writes) || messages.slice(start).some(writes)) return false;
  const items = itemsAbout(wordsOf(messages[start]!.text), todos);
  return items.length > 0 && items.every(isClosed);
}

/** Whether the model has worked on the plan since the user's last message, by itself or through a sub-agent. */
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
