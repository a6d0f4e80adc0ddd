import { createHash } from "node:crypto";

/** The longest name that all providers accept, of letters, digits, `_` and `-`. */
const MAX_CHARS = 64;

/** The prefix in `mcp__server__tool`, the usual form of these names. */
export const PREFIX = "mcp__";

/**
 * The unique name of a server's tool that every provider accepts. A name that had to be changed ends with a hash of the
 * original, so that it does not depend on other tools.
 */
export function toolName(server: string, tool: string): string {
  const full = `${PREFIX}${server}__${tool}`;
  const allowed = full.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  // Two servers could have the same: `a__b` with `c`, and `a` with `b__c`.
  const isClear = !server.includes("__") && !tool.startsWith("_") && !server.endsWith("_");
  if (allowed === full && isClear && full.length <= MAX_CHARS) return full;
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
  return `${allowed.slice(0, MAX_CHARS - hash.length - 1)}_${hash}`;
}
