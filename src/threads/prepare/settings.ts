import { z } from "zod";
import { BUDGET_LIMITS } from "../../middleware/budget/index.ts";
import { APPROVALS, EFFORTS, ISOLATIONS, MODES, type Mode, PRESET_NAMES } from "../../vocabulary.ts";

/** Settings of a thread's runs. They are stored in the thread, so that `resume` builds the same agent. */
export const RUN_SETTINGS = z.object({
  model: z.string(),
  /** The thinking effort; else settings files decide, or the model. */
  effort: z.enum(EFFORTS).optional(),
  plan: z.boolean(),
  preset: z.enum(PRESET_NAMES),
  approve: z.enum(APPROVALS),
  /** A working directory on disk, absolute; without one, files live in the thread. */
  dir: z.string().optional(),
  /** The directory in which its latest task was entered, absolute. */
  startedIn: z.string().optional(),
  shell: z.boolean(),
  /** Whether commands are isolated: if possible (`auto`, the default), always, or never. */
  sandbox: z.enum(ISOLATIONS).optional(),
  /** Whether isolated commands reach the network. */
  network: z.boolean().optional(),
  /** The consent mode that the user chose for this thread; else settings files decide. */
  mode: z.enum(MODES).optional(),
  /** Files with MCP servers, absolute. */
  mcp: z.array(z.string()).optional(),
  /** Whether web pages are read, and searched if there is a key. */
  web: z.boolean().optional(),
  /** Rules for calls that need consent in every mode. */
  ask: z.array(z.string()),
  /** `false`: the project's own settings, instructions and skills in `dir` are not read. */
  project: z.boolean().optional(),
  maxTurns: z.number().optional(),
  /** The budget of a run besides its turns. */
  budget: BUDGET_LIMITS.optional(),
  /** Whether sub-agents may work in the background. */
  background: z.boolean().optional(),
});

/** The default modes: for runs that the user attends, and for runs that no one attends. */
export const DEFAULT_MODES = { attended: "ask", alone: "edits" } as const satisfies Record<string, Mode>;

/** The mode of a thread's runs: that of the thread, else of settings files, else the default. */
export function modeOf(
  settings: Pick<RunSettings, "mode">,
  { config, at }: { config?: { mode?: Mode }; at: keyof typeof DEFAULT_MODES },
): Mode {
  return chosenMode(settings, config) ?? DEFAULT_MODES[at];
}

/** The mode of the thread, else of settings files; undefined if no one has chosen one. */
export function chosenMode(
  { mode }: Pick<RunSettings, "mode">,
  config: { mode?: Mode } = {},
): Mode | undefined {
  return mode ?? config.mode;
}

export type RunSettings = z.output<typeof RUN_SETTINGS>;

/** Default settings; the model is found elsewhere. */
export const DEFAULT_SETTINGS: Omit<RunSettings, "model"> = {
  plan: true,
  preset: "lean",
  approve: "never",
  shell: false,
  ask: [],
};
