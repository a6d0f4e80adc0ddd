/** The words that options, settings files, the command line, the server, and the page share. Imports nothing. */

/** Consent modes: `plan` and `ask` ask before every write and command, `edits` before commands only, `auto` never. */
export const MODES = ["plan", "ask", "edits", "auto"] as const;
/** A consent mode. */
export type Mode = (typeof MODES)[number];

/** How much a model thinks. */
export const EFFORTS = ["off", "low", "medium", "high"] as const;
/** An effort. */
export type Effort = (typeof EFFORTS)[number];

/** When the user approves a plan: the first one, each change of scope, or never. */
export const APPROVALS = ["first", "always", "never"] as const;

/** Whether commands are isolated: where it works, always (otherwise none runs), or never. */
export const ISOLATIONS = ["auto", "always", "never"] as const;
/** When commands are isolated. */
export type Isolation = (typeof ISOLATIONS)[number];

/** The plan's presets: our own, and one for each source. */
export const PRESET_NAMES = ["lean", "classic", "deerflow", "checklist"] as const;
/** The name of a preset. */
export type PresetName = (typeof PRESET_NAMES)[number];

/** The statuses of a plan's item. */
export const STATUSES = ["pending", "in_progress", "completed", "blocked", "cancelled"] as const;
/** The status of an item. */
export type Status = (typeof STATUSES)[number];
