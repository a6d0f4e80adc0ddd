import { PRESETS, type Policy, type Preset, type Reminders } from "../../plan/index.ts";
import { LEAN_FINAL_ANSWER, LEAN_REPORTS, EXIT_REMINDERS, type ToolText } from "../../plan/presets/index.ts";
import { checkPlanOptions } from "./check-options.ts";
import type { PlanOptions, Switch } from "./options.ts";
import { workWasDone } from "./plan-call/evidence.ts";
import type { Verifier } from "./plan-call/verifier.ts";

/** The options with defaults filled in. */
export interface PlanSetup {
  preset: Preset;
  /** The names of the plan's own tools. */
  toolNames: readonly string[];
  verify: Verifier | undefined;
  /** Whether the verifier is the default one, which looks for evidence. */
  wantsEvidence: boolean;
  verifyTimeout: number;
  approval: "first" | "always" | "never";
  reports: "call" | "inline";
  owner: string;
  onPlanChange: PlanOptions["onPlanChange"];
  askTools: readonly string[];
  conversation: boolean;
  now: () => number;
}

/** The default names of tools that ask the user a question. */
export const ASK_TOOLS = ["ask_clarification", "ask_user", "ask_user_question", "ask_human"];

/** Combines options and preset. Throws `invalid-options`. */
export function setupPlan(options: PlanOptions = {}): PlanSetup {
  checkPlanOptions(options);
  const { preset: name = "lean", systemPrompt, toolDescription, updateDescription, ...rest } = options;
  const base = PRESETS[name];
  const { reminders, verify = base.evidence && workWasDone(), verifyTimeout = 60_000, ...others } = rest;
  const { approval = "never", reports = "call", owner = "main", onPlanChange, ...people } = others;
  const { askTools = ASK_TOOLS, conversation = false, now = Date.now, ...policy } = people;
  const rules: Policy = { ...base.policy, ...defined(policy) };
  const { write, update } = base.tools;
  const preset: Preset = {
    ...base,
    // The default prompt follows the rules for final answers and reports.
    systemPrompt:
      systemPrompt ??
      base.systemPrompt
        .replace(LEAN_FINAL_ANSWER.complete, LEAN_FINAL_ANSWER[rules.finalAnswer])
        .replace(LEAN_REPORTS.call, LEAN_REPORTS[reports]),
    tools: {
      write: { ...write, description: toolDescription ?? write.description },
      ...(update && { update: { ...update, description: updateDescription ?? update.description } }),
    },
    policy: rules,
    reminders: mergeReminders(base, reminders),
  };
  const toolNames = Object.values(preset.tools).map((tool: ToolText) => tool.name);
  return {
    preset,
    toolNames,
    verify: verify || undefined,
    verifyTimeout,
    wantsEvidence: options.verify === undefined && base.evidence,
    reports,
    owner,
    onPlanChange,
    now,
    approval,
    askTools,
    conversation,
  };
}

function mergeReminders({ name, reminders }: Preset, options: PlanOptions["reminders"]): Reminders {
  if (options === false)
    return { ...reminders, contextLoss: false, exit: false, stale: false, edited: false };
  const { tag = reminders.tag, persist = reminders.persist, ...switches } = options ?? {};
  const exit = reminders.exit || EXIT_REMINDERS[name as keyof typeof EXIT_REMINDERS];
  return {
    tag,
    persist,
    contextLoss: mergeReminder(reminders.contextLoss, switches.contextLoss),
    exit: switches.exit === undefined ? reminders.exit : mergeReminder(exit, switches.exit),
    stale: mergeReminder(reminders.stale, switches.stale),
    edited: mergeReminder(reminders.edited, switches.edited),
  };
}

function mergeReminder<T extends object>(preset: false | T, option: Switch<T> = {}): false | T {
  return option !== false && preset && { ...preset, ...(option === true ? {} : option) };
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
