import { own } from "../../plan/todo/index.ts";
import { isPlanTool } from "../tools/index.ts";
import type { RepeatOptions, RepeatPolicy } from "./options.ts";

/**
 * Holdfast's own tools. A sub-agent continues from its checkpoints. Writing or deleting a file twice has the effect of
 * once; an edit may apply twice, and a command can do anything.
 */
const OWN: RepeatOptions = {
  ls: "harmless",
  read_file: "harmless",
  glob: "harmless",
  grep: "harmless",
  ask_clarification: "harmless",
  task: "harmless",
  background: "harmless",
  write_file: "repeat",
  delete_file: "repeat",
};

/** The policies for files in the graph state: a change that was not saved has not happened. */
export const FILES_IN_THREAD: RepeatOptions = {
  write_file: "harmless",
  edit_file: "harmless",
  delete_file: "harmless",
};

/** The policy of a tool; undefined for the default: ask if it needs consent, else the outcome is unknown. */
export function policyOf(name: string, tool: unknown, options: RepeatOptions): RepeatPolicy | undefined {
  return own(options, name) ?? own(OWN, name) ?? declaredPolicy(tool) ?? own(options, "*");
}

/** The policy that a tool declares: as a plan tool, or by MCP's annotations in its metadata. */
function declaredPolicy(tool: unknown): RepeatPolicy | undefined {
  if (isPlanTool(tool)) return "harmless";
  const { metadata } = (tool ?? {}) as { metadata?: { annotations?: Record<string, unknown> | null } };
  const { readOnlyHint, idempotentHint } = metadata?.annotations ?? {};
  if (readOnlyHint === true) return "harmless";
  return idempotentHint === true ? "repeat" : undefined;
}
