import { LEAN } from "./lean.ts";
import type { Dialect } from "./view.ts";
import { CHECKLIST, CLASSIC } from "./whole-list.ts";

/** The dialect that these tools belong to; undefined where there are none for a plan. */
export function dialectOf(tools: readonly string[]): Dialect | undefined {
  if (tools.includes("todo")) return CHECKLIST;
  if (!tools.includes("write_todos")) return undefined;
  return tools.includes("update_todos") ? LEAN : CLASSIC;
}
