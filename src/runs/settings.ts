import { z } from "zod";
import { PRESET_NAMES } from "../plan/index.ts";

export const APPROVALS = ["first", "always", "never"] as const;

/** How a thread is run. Kept in the thread, so that `resume` builds the same agent. */
export const RUN_SETTINGS = z.object({
  model: z.string(),
  plan: z.boolean(),
  preset: z.enum(PRESET_NAMES),
  approve: z.enum(APPROVALS),
  /** A working directory on disk, absolute; without one, files live in the thread. */
  dir: z.string().optional(),
  /** The directory that its latest task was given in, absolute; threads from before it was kept have none. */
  startedIn: z.string().optional(),
  /** Whether commands may be run in `dir`. */
  shell: z.boolean(),
  /** Whether isolated commands reach the network. */
  network: z.boolean().optional(),
  /** Consent was given to everything (`--yes`). */
  trusted: z.boolean().optional(),
  /** Files with MCP servers, absolute. */
  mcp: z.array(z.string()).optional(),
  /** Whether pages of the web are read, and searched where there is a key. */
  web: z.boolean().optional(),
  /** Tools that wait for consent. */
  ask: z.array(z.string()),
  maxTurns: z.number().optional(),
});

export type RunSettings = z.output<typeof RUN_SETTINGS>;

/** What a thread is run with where nobody says otherwise; the model is found elsewhere. */
export const DEFAULT_SETTINGS: Omit<RunSettings, "model"> = {
  plan: true,
  preset: "lean",
  approve: "never",
  shell: false,
  ask: [],
};
