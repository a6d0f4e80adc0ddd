/** The tools that change files. */
export const MUTATIONS = ["write_file", "edit_file", "delete_file"] as const;
export type Mutation = (typeof MUTATIONS)[number];

export function isMutation(tool: string): tool is Mutation {
  return (MUTATIONS as readonly string[]).includes(tool);
}
