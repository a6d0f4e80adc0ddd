import type { AnyTool } from "../deep/options.ts";
import type { Project } from "../project/index.ts";

/** The model that settings files name, where the environment names none. */
export function settledModel(
  { config }: Pick<Project, "config">,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return env["HOLDFAST_MODEL"]?.trim() ? undefined : config.model;
}

/** Starts the servers that a user and a trusted project name, and returns their tools. None can be started yet. */
export async function projectTools(_project: Pick<Project, "mcp">): Promise<readonly AnyTool[]> {
  return [];
}
