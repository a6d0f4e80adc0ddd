import { getConfig, type LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Mark, Tally } from "../../plan/index.ts";
import type { PlanSetup } from "./setup.ts";
import type { PlanMemory } from "./state.ts";

/** When invocations of a graph were first seen here. */
const seen = new WeakMap<object, number>();

/** A tally at this moment. */
export function markOf(setup: PlanSetup, tally: Tally, memory: PlanMemory): Mark {
  return { ...tally, at: setup.now(), ...idleOf(setup, memory) };
}

/**
 * For how long nothing has run in the thread so far. A stop, a kill and a question all end the invocation of the
 * graph, so what lies between the last model call of one and the next was no work. LangGraph tells nobody when an
 * invocation began, but makes one writer for each: the first look at it will do.
 */
export function idleOf({ now }: PlanSetup, { at, idle }: PlanMemory): { idle?: number } {
  // Absent where a tool is called by hand.
  const writer = (getConfig() as LangGraphRunnableConfig | undefined)?.writer;
  if (!writer) return idle > 0 ? { idle } : {};
  const start = seen.get(writer) ?? now();
  seen.set(writer, start);
  const total = idle + (at > 0 ? Math.max(0, start - at) : 0);
  return total > 0 ? { idle: total } : {};
}
