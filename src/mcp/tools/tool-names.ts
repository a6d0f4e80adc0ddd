import { createHash } from "node:crypto";

/** The most that providers take, of letters, digits, `_` and `-`. */
const LONGEST = 64;

/** `mcp__server__tool`, as others name them. */
export const PREFIX = "mcp__";

/**
 * Names for the tools of a server that every provider takes, each a name of its own. What had to be changed has a hash
 * of what it was at its end, so that a tool keeps its name whatever other tools there are.
 */
export function toolName(server: string, tool: string): string {
  const full = `${PREFIX}${server}__${tool}`;
  const allowed = full.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  // Two servers could share it: `a__b` with `c`, and `a` with `b__c`.
  const isClear = !server.includes("__") && !tool.startsWith("_") && !server.endsWith("_");
  if (allowed === full && isClear && full.length <= LONGEST) return full;
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
  return `${allowed.slice(0, LONGEST - hash.length - 1)}_${hash}`;
}
