import { HarnessError } from "../../errors.ts";
import { isIsolated } from "../../files/index.ts";
import { NO_ISOLATION } from "../../files/shell/index.ts";
import type { Config } from "../../project/index.ts";
import { chosenMode, type RunSettings } from "./settings.ts";

/** A warning if the commands of a run are not isolated. Throws `invalid-options` if isolation is required and missing. */
export function isolationNotice(
  settings: Pick<RunSettings, "shell" | "sandbox" | "mode">,
  config: Pick<Config, "sandbox" | "mode"> = {},
): string | undefined {
  const { shell, sandbox = config.sandbox ?? "auto" } = settings;
  if (!shell || hasIsolation(settings, config)) return undefined;
  if (sandbox === "always") throw new HarnessError("invalid-options", `Commands: ${NO_ISOLATION}`);
  const why = sandbox === "never" ? "are not isolated, as asked" : "cannot be isolated on this machine";
  const asking = chosenMode(settings, config) === "auto" ? "none is asked for" : "each is asked for";
  return `Commands ${why}: they run with your rights, and ${asking}.`;
}

export function hasIsolation(
  settings: Pick<RunSettings, "sandbox">,
  config: Pick<Config, "sandbox"> = {},
): boolean {
  return isIsolated({ isolation: settings.sandbox ?? config.sandbox ?? "auto" });
}
