import type { Project } from "../project/index.ts";

/** The model that settings files name, where the environment names none. */
export function settledModel(
  { config }: Pick<Project, "config">,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return env["HOLDFAST_MODEL"]?.trim() ? undefined : config.model;
}
