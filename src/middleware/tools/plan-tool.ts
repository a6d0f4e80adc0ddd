import { originalTool } from "./wrapped-tool.ts";

const known = new WeakSet<object>();

/** Marks a tool that changes the plan and nothing else, so that others can tell it from work whatever it is called. */
export function planTool<Tool extends object>(tool: Tool): Tool {
  known.add(tool);
  return tool;
}

export function isPlanTool(tool: unknown): boolean {
  const original = originalTool(tool);
  return typeof original === "object" && original !== null && known.has(original);
}
