import { MODES, type Mode } from "../../../project/index.ts";

/** The mode of a session without settings. */
export const DEFAULT_MODE: Mode = "ask";

export const MODE_TEXTS: Readonly<Record<Mode, string>> = {
  plan: "reads only until you have approved a plan, writes files as planned, asks again for what leaves it",
  ask: "asks before writes and commands",
  edits: "writes files, asks before commands",
  auto: "asks for nothing",
};

/** The mode that the key goes on to. Without isolation nobody gets into `auto` by a key. */
export function nextMode(mode: Mode, isIsolated: boolean): Mode {
  const all = MODES.filter((one) => one !== "auto" || isIsolated);
  return all[(all.indexOf(mode) + 1) % all.length]!;
}
