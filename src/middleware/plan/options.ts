import type { Policy, PresetName, Reminders, Status } from "../../plan/index.ts";
import type { PlanChangeEvent } from "./events.ts";
import type { Verifier } from "./plan-call/verifier.ts";

/** Changes to one reminder: off, on, or on with some of its parts. */
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

/** Options of `planMiddleware`. Every field of the policy can be given too, such as `maxItems: 50`. */
export interface PlanOptions extends Partial<Policy> {
  /** Default `lean`. */
  preset?: PresetName;
  /** Replaces the preset's addition to the system prompt. */
  systemPrompt?: string;
  /** Replaces the description of the tool that writes the plan. */
  toolDescription?: string;
  /** Replaces the description of the tool that updates the plan, where the preset has one. */
  updateDescription?: string;
  /**
   * The way in which the model reports a completion. `call`: with the tool for updates, beside its next work call.
   * `inline`: in an argument that every other tool is shown with, which costs no call, no result and no turn, also
   * where a model makes one call at a time. Needs a preset with updates. Default `call`.
   */
  reports?: "call" | "inline";
  /** `false` switches all reminders off. */
  reminders?: false | ReminderOptions;
  /**
   * Asked before an item counts as completed; `false` asks nobody. Default: `workWasDone()` in preset `lean`, nobody in
   * the others.
   */
  verify?: Verifier | false;
  /** The time limit of `verify`, in milliseconds. Default 60,000. */
  verifyTimeout?: number;
  /**
   * Ask a person before a plan takes effect. `first`: when a plan is made where none was open. `always`: also
   * when items are added, removed or reworded. Needs a checkpointer. Default `never`.
   */
  approval?: "first" | "always" | "never";
  /** Names whose plan this is in events, such as a sub-agent's name. Default `main`. */
  owner?: string;
  /** Called with every change. What it throws is reported as a process warning and does not disturb the run. */
  onPlanChange?: (event: PlanChangeEvent) => void | Promise<void>;
  /** Names of tools that put a question to the user: an answer right after one is not a premature exit. */
  askTools?: readonly string[];
  /**
   * Whether people also ask this and that while a plan is open. Then an answer finishes an item, or is called back for
   * those that are open, only where the model has worked on the plan since the last message. Default false.
   */
  conversation?: boolean;
  /** The clock, for tests. */
  now?: () => number;
}

/**
 * Options by which `planMiddleware` is LangChain's `todoListMiddleware` to the letter, for a change of one import: its
 * state, messages, prompts, hook and name.
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
