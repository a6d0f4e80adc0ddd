import { type PresetName } from "../../vocabulary.ts";
import { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "../todo/index.ts";
import * as checklist from "./checklist.prompt.ts";
import * as classic from "./classic.prompt.ts";
import * as deerflow from "./deerflow.prompt.ts";
import * as lean from "./lean.prompt.ts";

/** A tool as the model sees it. `schema` is JSON Schema. */
export interface ToolText {
  name: string;
  description: string;
  schema: object;
}

/** The reminders for the model. `false` switches one off. */
export interface Reminders {
  /** The XML tag around every reminder. */
  tag: string;
  /** Keep the context-loss reminder in `messages`, hidden from user interfaces, instead of in one request only. */
  persist: boolean;
  /** Sent when the plan is not finished and the model cannot see it. */
  contextLoss: false | { name: string; text: string };
  /**
   * Sent when the model answers while items are open, at most `max` times since the last progress of a run. `again` is
   * the text of all but the first; default `text`.
   */
  exit: false | { name: string; text: string; again?: string; max: number };
  /**
   * Sent after `after` rounds of tool calls without a plan call, and again each time that there have been `backoff` times
   * as many (1: every round). With `withoutPlan` it is also sent before there is a plan.
   */
  stale: false | { name: string; text: string; after: number; backoff: number; withoutPlan: boolean };
  /** Sent when someone other than the model changed the plan. */
  edited: false | { name: string; text: string };
}

/** A model's language for its plan, and the rules that the plan obeys. Plain data; every part can be overridden. */
export interface Preset {
  name: PresetName;
  systemPrompt: string;
  tools: { write: ToolText; update?: ToolText };
  /** The tool result: one status line, the list as it was sent, or the rendered checklist. */
  result: "status" | "echo" | "checklist";
  /** Several full writes in one turn: the last in call order wins, or all are refused. */
  parallelWrites: "merge" | "refuse";
  /** Whether a completion needs evidence of the work. */
  evidence: boolean;
  policy: Policy;
  reminders: Reminders;
}

interface ReminderTexts extends Record<"contextLoss" | "exit" | "stale" | "edited", string> {
  exitAgain?: string;
}

/** The default names of the reminders' messages, by kind. */
export const REMINDER_NAMES = {
  contextLoss: "todo_reminder",
  exit: "todo_completion_reminder",
  stale: "todo_stale_reminder",
  edited: "todo_edit_reminder",
} as const;

/** All reminders with the texts of a preset, including those that it switches off. */
function remindersOf(
  { contextLoss, exit, exitAgain: again, stale, edited }: ReminderTexts,
  pace: { after: number; backoff?: number; withoutPlan?: boolean },
) {
  return {
    tag: "system_reminder",
    persist: false,
    contextLoss: { name: REMINDER_NAMES.contextLoss, text: contextLoss },
    exit: { name: REMINDER_NAMES.exit, text: exit, ...(again && { again }), max: 2 },
    stale: { name: REMINDER_NAMES.stale, text: stale, backoff: 2, withoutPlan: false, ...pace },
    edited: { name: REMINDER_NAMES.edited, text: edited },
  } satisfies Reminders;
}

const LEAN: Preset = {
  name: "lean",
  systemPrompt: lean.LEAN_SYSTEM_PROMPT,
  tools: {
    write: { name: "write_todos", description: lean.LEAN_WRITE_DESCRIPTION, schema: lean.LEAN_WRITE_SCHEMA },
    update: {
      name: "update_todos",
      description: lean.LEAN_UPDATE_DESCRIPTION,
      schema: lean.LEAN_UPDATE_SCHEMA,
    },
  },
  result: "status",
  parallelWrites: "merge",
  evidence: true,
  policy: LEAN_POLICY,
  reminders: remindersOf(lean.LEAN_REMINDERS, { after: 3 }),
};

/** The pace for presets whose originals have no stale reminder. */
const RARELY = { after: 5 };

const CLASSIC: Preset = {
  name: "classic",
  systemPrompt: classic.CLASSIC_SYSTEM_PROMPT,
  tools: {
    write: {
      name: "write_todos",
      description: classic.CLASSIC_WRITE_DESCRIPTION,
      schema: classic.CLASSIC_WRITE_SCHEMA,
    },
  },
  result: "echo",
  parallelWrites: "refuse",
  evidence: false,
  policy: CLASSIC_POLICY,
  reminders: { ...remindersOf(classic.CLASSIC_REMINDERS, RARELY), exit: false },
};

const DEERFLOW: Preset = {
  ...CLASSIC,
  name: "deerflow",
  systemPrompt: deerflow.DEERFLOW_SYSTEM_PROMPT,
  tools: {
    write: {
      name: "write_todos",
      description: deerflow.DEERFLOW_WRITE_DESCRIPTION,
      schema: classic.CLASSIC_WRITE_SCHEMA,
    },
  },
  reminders: { ...remindersOf(deerflow.DEERFLOW_REMINDERS, RARELY), persist: true },
};

const CHECKLIST: Preset = {
  name: "checklist",
  systemPrompt: checklist.CHECKLIST_SYSTEM_PROMPT,
  tools: {
    write: {
      name: "todo",
      description: checklist.CHECKLIST_WRITE_DESCRIPTION,
      schema: checklist.CHECKLIST_WRITE_SCHEMA,
    },
  },
  result: "checklist",
  parallelWrites: "merge",
  evidence: false,
  policy: CHECKLIST_POLICY,
  reminders: {
    ...remindersOf(checklist.CHECKLIST_REMINDERS, { after: 3, backoff: 1, withoutPlan: true }),
    tag: "reminder",
    exit: false,
  },
};

/** All presets by name. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  lean: LEAN,
  classic: CLASSIC,
  deerflow: DEERFLOW,
  checklist: CHECKLIST,
};

/** The names of the plan tools of all presets. */
export const PLAN_TOOLS: ReadonlySet<string> = new Set(
  Object.values(PRESETS).flatMap(({ tools }) => Object.values(tools).map(({ name }: ToolText) => name)),
);

/** The exit reminders of presets that have them switched off, for users who switch them on. */
export const EXIT_REMINDERS = {
  classic: remindersOf(classic.CLASSIC_REMINDERS, RARELY).exit,
  checklist: remindersOf(checklist.CHECKLIST_REMINDERS, RARELY).exit,
};
