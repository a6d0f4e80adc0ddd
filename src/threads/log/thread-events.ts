import type { Todo } from "../../plan/todo/index.ts";
import type { RunEvent } from "../events/index.ts";

export interface AskedCall {
  owner: string;
  call: string;
  name: string;
  args: Record<string, unknown>;
}

type QuestionEvent = Extract<RunEvent, { type: "question" }>;

/** A run's question to a person, as in its events. */
export interface Question extends Pick<QuestionEvent, "id" | "kind" | "text" | "options"> {
  /** The sub-agent that asks; undefined for the main agent. */
  owner?: string;
  todos?: readonly Todo[];
  rules?: readonly string[];
  call?: AskedCall;
  notice?: string;
  error?: string;
}

/** A run event; live ones have a number, replayed ones have none. */
export type StampedEvent = RunEvent & { run?: string; n?: number };

export interface ThreadEvents {
  events: readonly StampedEvent[];
  questions: readonly Question[];
  /** Live events with a higher number follow. */
  last?: number;
}
