import { type Config } from "../../../project/index.ts";
import { hasIsolation, chosenMode, DEFAULT_MODES, type RunSettings } from "../../../threads/prepare/index.ts";
import { MODES, type Mode } from "../../../vocabulary.ts";
import { shown, type Harmless } from "../output/index.ts";

export const MODE_TEXTS: Readonly<Record<Mode, string>> = {
  plan: "reads only until you have approved a plan, writes files as planned, asks again for what leaves it",
  ask: "asks before writes and commands",
  edits: "writes files, asks before commands",
  auto: "asks for nothing",
};

/**
 * The settings with which a session continues a thread. Its mode is kept, except for `auto` if commands are not isolated
 * here.
 */
export function settingsToContinue<
  Settings extends Parameters<typeof hasIsolation>[0] & Pick<RunSettings, "mode">,
>(settings: Settings, config: Config): { settings: Settings; notice?: Harmless } {
  if (chosenMode(settings) !== "auto" || hasIsolation(settings, config)) return { settings };
  return { settings: { ...settings, mode: DEFAULT_MODES.attended }, notice: AUTO_LEFT };
}

const AUTO_LEFT = shown`The thread was in mode auto, and nothing isolates commands here: you are asked again. /mode auto changes it.`;

/** The mode after `mode` for the key that switches. Skips `auto` if commands are not isolated. */
export function nextMode(mode: Mode, isIsolated: boolean): Mode {
  const modes = MODES.filter((one) => one !== "auto" || isIsolated);
  return modes[(modes.indexOf(mode) + 1) % modes.length]!;
}
