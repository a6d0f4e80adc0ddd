import { getConfig, type LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Mark, Tally } from "../../plan/index.ts";
import type { PlanSetup } from "./setup.ts";
import type { PlanMemory } from "./state.ts";

/** When invocations of a graph were first seen here. */
const seen = new WeakMap<object, number>();

/** A tally at this moment. */
export function markOf(setup: PlanSetup, tally: Tally, memory: PlanMemory, writer?: object): Mark {
  return { ...tally, at: setup.now(), ...idleOf(setup, memory, writer) };
}

/**
 * For how long nothing has run in the thread so far. A stop, a kill and a question all end the invocation of the
 * graph, so what lies between the last model call of one and the next was no work. LangGraph tells nobody when an
 * invocation began, but makes one writer for each: the first look at it will do.
 *
 * What tools did in that turn before the invocation ended counts as idle, as nobody noted when. A sub-agent's work
 * does not: its interrupt says how long it took, and `lessIdle` takes it out again.
 */
export function idleOf(
  { now }: PlanSetup,
  { at, idle }: PlanMemory,
  // In a tool it is in the tool's runtime alone. Absent where a tool is called by hand.
  writer: object | undefined = (getConfig() as LangGraphRunnableConfig | undefined)?.writer,
): { idle?: number } {
  if (!writer) return idle > 0 ? { idle } : {};
  const start = seen.get(writer) ?? now();
  seen.set(writer, start);
  const total = idle + (at > 0 ? Math.max(0, start - at) : 0);
  return total > 0 ? { idle: total } : {};
}
