/** The tools that change the plan: what they do is seen there. */
export const PLAN_TOOLS: readonly string[] = ["write_todos", "update_todos", "todo"];
