import { PRESETS, type Policy, type Preset, type Reminders } from "../../plan/index.ts";
import { LEAN_FINAL_ANSWER, LEAN_REPORTS } from "../../plan/presets/lean.prompt.ts";
import { REMINDER_TEXTS, type ToolText } from "../../plan/presets/presets.ts";
import { checkPlanOptions } from "./check-options.ts";
import type { PlanOptions, Switch } from "./options.ts";
import { workWasDone } from "./plan-call/evidence.ts";
import type { Verifier } from "./plan-call/verifier.ts";

/** Options with every default filled in. */
export interface PlanSetup {
  preset: Preset;
  /** The names of the plan's own tools. */
  toolNames: readonly string[];
  verify: Verifier | undefined;
  /** The verifier is the one that looks for evidence. */
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

/** Tools that put a question to the user, by default. */
export const ASK_TOOLS = ["ask_clarification", "ask_user", "ask_user_question", "ask_human"];

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
    verify = base.evidence && workWasDone(),
    verifyTimeout = 60_000,
    approval = "never",
    reports = "call",
    owner = "main",
    onPlanChange,
    ...others
  } = rest;
  const { askTools = ASK_TOOLS, conversation = false, now = Date.now, ...policy } = others;
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
  const people = { approval, askTools, conversation };
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
    ...people,
  };
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
