import type { InferredOptionTypes, Options } from "yargs";
import { APPROVALS, EFFORTS, ISOLATIONS, MODES, PRESET_NAMES } from "../../../vocabulary.ts";

export const FORMATS = ["checklist", "markdown", "mermaid", "json"] as const;
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const EXIT_CODES = `Exit codes: 0 done, 1 failed, 2 usage, 3 stopped with open items or waiting for an answer,
130 interrupted.`;

/** The parsed flags of a table of options. */
export type FlagsOf<Table extends Record<string, Options>> = {
  [Name in keyof Table as InCamelCase<Name>]?: InferredOptionTypes<Table>[Name];
};

type InCamelCase<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<InCamelCase<Rest>>}`
  : Name & string;

export const flag = (describe: string) => ({ type: "boolean", describe }) as const;
export const word = (describe: string) => ({ type: "string", describe }) as const;
export const text = (describe: string) => ({ type: "string", requiresArg: true, describe }) as const;

/** A flag that may be repeated. */
export const list = (describe: string) =>
  ({
    ...text(describe),
    coerce: (value: string | string[] | undefined) => (value === undefined ? undefined : [value].flat()),
  }) as const;

/** A whole number above 0. */
export function count<Value = number | undefined>(name: string, describe: string) {
  const coerce = (value: Value): Value => {
    if (value === undefined || (Number.isInteger(value) && Number(value) > 0)) return value;
    throw new Error(`--${name} is a whole number above 0.`);
  };
  return { type: "number", describe, coerce } as const;
}

export const THREAD = { ...word("Its id or the beginning of it"), demandOption: true } as const;
export const PROVIDER = word("The provider's prefix in model names, such as anthropic or ollama");
export const JSON_LINES = flag("One JSON object per line");

export const STATE_FLAGS = {
  state: text("The file with the threads ($HOLDFAST_STATE, or one in your state directory)"),
  database: text("A Postgres database instead, postgres://… ($HOLDFAST_DATABASE_URL)"),
} as const;

export const MCP_FLAGS = {
  "mcp-config": list(
    "A file with MCP servers, such as .mcp.json; calls that may change something need consent",
  ),
} as const;

const MODEL_FLAGS = {
  model: {
    ...text("provider:name, offline or demo ($HOLDFAST_MODEL, or the first provider with a key)"),
    alias: "m",
  },
  effort: { choices: EFFORTS, describe: "How much the model thinks, if it supports that" },
  "max-turns": count("max-turns", "Stop after this many turns, sub-agents' included; resume continues"),
  budget: text(
    "Stop after tokens=200000,cost=5,minutes=30 (item-tokens and so on for one item); resume continues",
  ),
  timeout: count(
    "timeout",
    "Abort a request if the model is silent for this many seconds ($HOLDFAST_TIMEOUT, or 300)",
  ),
} as const;

const PROJECT_FLAGS = {
  project: flag(
    "Read AGENTS.md, skills and settings of a trusted project (default); --no-project ignores them",
  ),
  "trust-project": flag("Trust the project in the directory, as holdfast trust does"),
} as const;

const SANDBOX_FLAGS = {
  sandbox: {
    choices: ISOLATIONS,
    describe: "Isolate commands if possible, always, or never (default auto)",
  },
  network: flag("Let isolated commands reach the network"),
} as const;

const OWN_AGENT_FLAGS = {
  agent: text("A file with your own graph (agent.ts, agent.ts:name), instead of Holdfast's agent"),
} as const;

/** Flags for the agent of a thread. */
const AGENT_FLAGS = {
  ...PROJECT_FLAGS,
  ...SANDBOX_FLAGS,
  ...MCP_FLAGS,
  mode: {
    choices: MODES,
    describe:
      "When to ask. plan: before starting a plan; ask: before writes and commands; edits: before commands; auto: never (default edits, in a session ask)",
  },
  dir: {
    ...text(
      "Work on the files of this directory; in a session and run by default the current one, --no-dir keeps files in the thread",
    ),
    alias: "d",
  },
  shell: flag("Let the agent run commands in --dir"),
  background: flag("Let sub-agents work while the agent continues"),
  web: flag("Let the agent read pages, and search where $TAVILY_API_KEY, $EXA_API_KEY or $BRAVE_API_KEY is"),
  preset: { choices: PRESET_NAMES, describe: "How the agent plans (default lean)" },
  plan: flag("Plan (default); --no-plan works without a plan"),
  approve: {
    choices: APPROVALS,
    describe: "Ask before the first plan, or before every change of scope (default never)",
  },
  ask: {
    ...text("What needs your consent in every mode: tools or execute(git push*), separated by commas"),
    coerce: (names: string | string[] | undefined) =>
      names === undefined
        ? undefined
        : [names]
            .flat()
            .flatMap((one) => one.split(/,(?![^(]*\))/))
            .map((name) => name.trim())
            .filter(Boolean),
  },
  yes: { ...flag("The same as --mode auto, and removes the rules of --ask"), alias: "y" },
} as const;

const OUTPUT_FLAGS = {
  json: { ...flag("Print events as lines of JSON"), conflicts: "quiet" },
  quiet: { ...flag("Print only the answer"), alias: "q" },
} as const;

/** Flags of a command that runs agents. */
export const RUNNING_FLAGS = { ...STATE_FLAGS, ...MODEL_FLAGS, ...AGENT_FLAGS } as const;

export const RUN_FLAGS = { ...RUNNING_FLAGS, ...OUTPUT_FLAGS, ...OWN_AGENT_FLAGS } as const;

export const RESUME_FLAGS = {
  ...STATE_FLAGS,
  ...MODEL_FLAGS,
  ...PROJECT_FLAGS,
  ...SANDBOX_FLAGS,
  ...OUTPUT_FLAGS,
  ...OWN_AGENT_FLAGS,
  dir: { ...text("The new path of the directory, if it was moved"), alias: "d" },
  answer: {
    ...list("The answer it waits for: approve, reject: reason, your words, @file or @-. Once per question"),
    alias: "a",
  },
} as const;

export const ACP_FLAGS = {
  ...STATE_FLAGS,
  ...MODEL_FLAGS,
  ...SANDBOX_FLAGS,
  mode: { choices: MODES, describe: "How much a new session asks (default ask)" },
  preset: AGENT_FLAGS.preset,
  web: flag("Let the agent read pages, as in run"),
  background: AGENT_FLAGS.background,
  install: flag("Add it to the settings of Zed, and print what to add elsewhere"),
  setup: flag("Test the model and report problems, as doctor does"),
} as const;
