import { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "../todo/policy.ts";
import * as checklist from "./checklist.prompt.ts";
import * as classic from "./classic.prompt.ts";
import * as deerflow from "./deerflow.prompt.ts";
import * as lean from "./lean.prompt.ts";

/** The names of all presets. */
export const PRESET_NAMES = ["lean", "classic", "deerflow", "checklist"] as const;
/** The name of a preset. */
export type PresetName = (typeof PRESET_NAMES)[number];

/** A tool as the model sees it. `schema` is JSON Schema. */
export interface ToolText {
  name: string;
  description: string;
  schema: object;
}

/** When and how the model is reminded. `false` switches a reminder off. */
export interface Reminders {
  /** The XML tag around every reminder. */
  tag: string;
  /** Keep the context-loss reminder in `messages`, hidden from user interfaces, instead of in one request only. */
  persist: boolean;
  /** The plan is open and the model cannot see it. */
  contextLoss: false | { name: string; text: string };
  /**
   * The model answers while items are open; at most `max` times since the last progress of a run. `again` is the text
   * of all but the first; default `text`.
   */
  exit: false | { name: string; text: string; again?: string; max: number };
  /**
   * `after` rounds of tool calls passed without a plan call. Each repetition waits `backoff` times as long as
   * the one before (1: every round). `withoutPlan` also fires before there is a plan.
   */
  stale: false | { name: string; text: string; after: number; backoff: number; withoutPlan: boolean };
  /** Somebody other than the model changed the plan. */
  edited: false | { name: string; text: string };
}

/** A model's language for its plan, and the rules that the plan obeys. Plain data; every part can be overridden. */
export interface Preset {
  name: PresetName;
  systemPrompt: string;
  tools: { write: ToolText; update?: ToolText };
  /** The tool result: one status line, the list as it was sent, or the rendered checklist. */
  result: "status" | "echo" | "checklist";
  /** Two full writes in one turn: the last one wins in call order, or all of them are refused. */
  parallelWrites: "merge" | "refuse";
  /** An item completes when its work was seen. */
  evidence: boolean;
  policy: Policy;
  reminders: Reminders;
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
  reminders: {
    tag: "system_reminder",
    persist: false,
    contextLoss: { name: "todo_reminder", text: lean.LEAN_REMINDERS.contextLoss },
    exit: {
      name: "todo_completion_reminder",
      text: lean.LEAN_REMINDERS.exit,
      again: lean.LEAN_REMINDERS.exitAgain,
      max: 2,
    },
    stale: {
      name: "todo_stale_reminder",
      text: lean.LEAN_REMINDERS.stale,
      after: 3,
      backoff: 2,
      withoutPlan: false,
    },
    edited: { name: "todo_edit_reminder", text: lean.LEAN_REMINDERS.edited },
  },
};

/** For presets whose sources have no such reminder: only a model that has left its plan behind gets it. */
const RARELY = { name: "todo_stale_reminder", after: 5, backoff: 2, withoutPlan: false };

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
  reminders: {
    tag: "system_reminder",
    persist: false,
    contextLoss: { name: "todo_reminder", text: classic.CLASSIC_REMINDERS.contextLoss },
    exit: false,
    stale: { ...RARELY, text: classic.CLASSIC_REMINDERS.stale },
    edited: { name: "todo_edit_reminder", text: classic.CLASSIC_REMINDERS.edited },
  },
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
  reminders: {
    ...CLASSIC.reminders,
    persist: true,
    contextLoss: { name: "todo_reminder", text: deerflow.DEERFLOW_REMINDERS.contextLoss },
    exit: {
      name: "todo_completion_reminder",
      text: deerflow.DEERFLOW_REMINDERS.exit,
      again: deerflow.DEERFLOW_REMINDERS.exitAgain,
      max: 2,
    },
    stale: { ...RARELY, text: deerflow.DEERFLOW_REMINDERS.stale },
    edited: { name: "todo_edit_reminder", text: deerflow.DEERFLOW_REMINDERS.edited },
  },
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
    tag: "reminder",
    persist: false,
    contextLoss: { name: "todo_reminder", text: checklist.CHECKLIST_REMINDERS.contextLoss },
    exit: false,
    stale: {
      name: "todo_stale_reminder",
      text: checklist.CHECKLIST_REMINDERS.stale,
      after: 3,
      backoff: 1,
      withoutPlan: true,
    },
    edited: { name: "todo_edit_reminder", text: checklist.CHECKLIST_REMINDERS.edited },
  },
};

/** All presets by name. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  lean: LEAN,
  classic: CLASSIC,
  deerflow: DEERFLOW,
  checklist: CHECKLIST,
};

/** The texts of reminders that a preset has switched off, for those who switch them on. */
export const REMINDER_TEXTS = {
  lean: lean.LEAN_REMINDERS,
  classic: classic.CLASSIC_REMINDERS,
  deerflow: deerflow.DEERFLOW_REMINDERS,
  checklist: checklist.CHECKLIST_REMINDERS,
} as const satisfies Record<PresetName, Record<"contextLoss" | "exit" | "stale" | "edited", string>>;
