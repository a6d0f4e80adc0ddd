import {
  PRESETS,
  type Policy,
  type Preset,
  type PresetName,
  type Reminders,
  type Status,
  type ToolText,
} from "../../plan/index.ts";
import { LEAN_FINAL_ANSWER, LEAN_REPORTS } from "../../plan/lean.prompt.ts";
import { REMINDER_TEXTS } from "../../plan/presets.ts";
import { checkPlanOptions } from "./check-options.ts";
import type { PlanChangeEvent } from "./events.ts";
import type { Verifier } from "./verify.ts";

type Switch<T> = false | true | Partial<Exclude<T, false>>;

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
   * How the model says that an item is done. `call`: with the tool for updates, beside its next work call. `inline`:
   * in an argument that every other tool is shown with, which costs no call, no result and no turn, also where a
   * model makes one call at a time. Needs a preset with updates. Default `call`.
   */
  reports?: "call" | "inline";
  /** `false` switches all reminders off. */
  reminders?: false | ReminderOptions;
  /** Asked before an item counts as completed. */
  verify?: Verifier;
  /** How long `verify` may take, in milliseconds. Default 60,000. */
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
  /** The clock, for tests. */
  now?: () => number;
}

/** The statuses that a plan with these options can have. */
export type StatusOf<Options> = Options extends { statuses: readonly (infer Of extends Status)[] }
  ? Of
  : Options extends { preset: "classic" | "deerflow" | "checklist" }
    ? "pending" | "in_progress" | "completed"
    : Status;

/** Options with every default filled in. */
export interface PlanSetup {
  preset: Preset;
  /** The names of the plan's own tools. */
  toolNames: readonly string[];
  verify: Verifier | undefined;
  verifyTimeout: number;
  approval: "first" | "always" | "never";
  reports: "call" | "inline";
  owner: string;
  onPlanChange: PlanOptions["onPlanChange"];
  askTools: readonly string[];
  now: () => number;
}

const ASK_TOOLS = ["ask_clarification", "ask_user", "ask_user_question", "ask_human"];

/** Puts options and preset together. Throws `invalid-options` for what cannot work. */
export function setupPlan(options: PlanOptions = {}): PlanSetup {
  checkPlanOptions(options);
  const {
    preset: name = "lean",
    systemPrompt,
    toolDescription,
    updateDescription,
    reminders,
    ...rest
  } = options;
  const base = PRESETS[name];
  const {
    verify,
    verifyTimeout = 60_000,
    approval = "never",
    reports = "call",
    owner = "main",
    onPlanChange,
    ...others
  } = rest;
  const { askTools = ASK_TOOLS, now = Date.now, ...policy } = others;
  const rules: Policy = { ...base.policy, ...defined(policy) };
  const preset: Preset = {
    ...base,
    // The prompt must not promise what another rule will not keep.
    systemPrompt:
      systemPrompt ??
      base.systemPrompt
        .replace(LEAN_FINAL_ANSWER.complete, LEAN_FINAL_ANSWER[rules.finalAnswer])
        .replace(LEAN_REPORTS.call, LEAN_REPORTS[reports]),
    tools: {
      write: { ...base.tools.write, ...(toolDescription !== undefined && { description: toolDescription }) },
      ...(base.tools.update && {
        update: {
          ...base.tools.update,
          ...(updateDescription !== undefined && { description: updateDescription }),
        },
      }),
    },
    policy: rules,
    reminders: mergeReminders(base, reminders),
  };
  const toolNames = Object.values(preset.tools).map((tool: ToolText) => tool.name);
  return { preset, toolNames, verify, verifyTimeout, approval, reports, owner, onPlanChange, askTools, now };
}

function mergeReminders(base: Preset, options: PlanOptions["reminders"]): Reminders {
  const texts = REMINDER_TEXTS[base.name];
  const { reminders } = base;
  if (options === false)
    return { ...reminders, contextLoss: false, exit: false, stale: false, edited: false };
  const stale = { after: 3, backoff: 2, withoutPlan: false };
  return {
    tag: options?.tag ?? reminders.tag,
    persist: options?.persist ?? reminders.persist,
    contextLoss: switched(reminders.contextLoss, options?.contextLoss, {
      name: "todo_reminder",
      text: texts.contextLoss,
    }),
    exit: switched(reminders.exit, options?.exit, {
      name: "todo_completion_reminder",
      text: texts.exit,
      max: 2,
    }),
    stale: switched(reminders.stale, options?.stale, {
      name: "todo_stale_reminder",
      text: texts.stale,
      ...stale,
    }),
    edited: switched(reminders.edited, options?.edited, { name: "todo_edit_reminder", text: texts.edited }),
  };
}

function switched<T extends object>(
  preset: false | T,
  option: Switch<T> | undefined,
  defaults: T,
): false | T {
  if (option === undefined) return preset;
  if (option === false) return false;
  return { ...defaults, ...preset, ...(option === true ? {} : option) };
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
