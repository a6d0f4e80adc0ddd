/** Variables by name. Empty ones count as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a variable. */
export function read(env: Environment, variable: string | undefined): string | undefined {
  return (variable && env[variable]?.trim()) || undefined;
}
