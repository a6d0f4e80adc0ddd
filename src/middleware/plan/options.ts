import type { Policy, Reminders } from "../../plan/index.ts";
import { type PresetName, type Status } from "../../vocabulary.ts";
import type { PlanChangeEvent } from "./events.ts";
import type { Verifier } from "./plan-call/verifier.ts";

/** Changes to one reminder: off, on, or on with other values for some fields. */
export type Switch<T> = false | true | Partial<Exclude<T, false>>;

/** Changes to a preset's reminders: `false` switches one off, `true` or an object switches it on. */
export interface ReminderOptions {
  tag?: string;
  persist?: boolean;
  contextLoss?: Switch<Reminders["contextLoss"]>;
  exit?: Switch<Reminders["exit"]>;
  stale?: Switch<Reminders["stale"]>;
  edited?: Switch<Reminders["edited"]>;
}

/** Options of `planMiddleware`. They include every field of the policy, such as `maxItems: 50`. */
export interface PlanOptions extends Partial<Policy> {
  /** Default `lean`. */
  preset?: PresetName;
  /** Replaces the preset's addition to the system prompt. */
  systemPrompt?: string;
  /** Replaces the description of the tool that writes the plan. */
  toolDescription?: string;
  /** Replaces the description of the tool that updates the plan, if the preset has one. */
  updateDescription?: string;
  /**
   * How the model reports a completion. `call`: with the tool for updates, next to its next work call. `inline`: in an
   * extra argument of every other tool, which costs no call, no result and no turn, even for a model that makes one
   * call at a time. Needs a preset with updates. Default `call`.
   */
  reports?: "call" | "inline";
  /** `false` switches all reminders off. */
  reminders?: false | ReminderOptions;
  /**
   * Called before an item counts as completed; `false` for no verifier. Default: `workWasDone()` in preset `lean`,
   * none in the others.
   */
  verify?: Verifier | false;
  /** The time limit of `verify`, in milliseconds. Default 60,000. */
  verifyTimeout?: number;
  /**
   * When to ask the user before a plan takes effect. `first`: for a new plan while none is open. `always`: also when
   * items are added, removed or reworded. Needs a checkpointer. Default `never`.
   */
  approval?: "first" | "always" | "never";
  /** The plan's owner in events, such as a sub-agent's name. Default `main`. */
  owner?: string;
  /** Called with every change. An error from it becomes a process warning and does not disturb the run. */
  onPlanChange?: (event: PlanChangeEvent) => void | Promise<void>;
  /** Names of tools that ask the user a question: an answer right after one is not a premature exit. */
  askTools?: readonly string[];
  /**
   * Whether users also ask unrelated things while a plan is open. Then an answer completes an item, or is returned to the model for
   * open items, only if the model has worked on the plan since the last message. Default false.
   */
  conversation?: boolean;
  /** The clock, for tests. */
  now?: () => number;
}

/**
 * Options that make `planMiddleware` exactly LangChain's `todoListMiddleware`, so that only an import has to change:
 * the same state, messages, prompts, hook and name.
 */
export interface ExactOptions extends Pick<PlanOptions, "systemPrompt" | "toolDescription"> {
  preset: "classic";
  exact: true;
}

/** An item of LangChain's. */
export interface ExactTodo {
  content: string;
  status: "pending" | "in_progress" | "completed";
}

/** The statuses that a plan with these options can have. */
export type StatusOf<Options> = Options extends { statuses: readonly (infer Of extends Status)[] }
  ? Of
  : Options extends { preset: "classic" | "deerflow" | "checklist" }
    ? "pending" | "in_progress" | "completed"
    : Status;
