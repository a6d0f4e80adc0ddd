import { own } from "../../plan/todo/index.ts";
import { isPlanTool } from "../tools/index.ts";
import type { RepeatOptions, RepeatPolicy } from "./options.ts";

/**
 * Our own tools. A sub-agent goes on from its checkpoints. To write or delete a file twice is to do it once; an edit can
 * be made twice, and a command can do anything.
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

/** For files that live in the thread: what is not saved has not happened. */
export const FILES_IN_THREAD: RepeatOptions = {
  write_file: "harmless",
  edit_file: "harmless",
  delete_file: "harmless",
};

/** The policy of a tool; undefined for the default: ask where consent is asked for, else the outcome is unknown. */
export function policyOf(name: string, tool: unknown, options: RepeatOptions): RepeatPolicy | undefined {
  return own(options, name) ?? own(OWN, name) ?? hinted(tool) ?? own(options, "*");
}

/**
 * The policy that a tool declares: as the plan's tools do, or by MCP's annotations, where LangChain's adapters put
 * them.
 */
function hinted(tool: unknown): RepeatPolicy | undefined {
  if (isPlanTool(tool)) return "harmless";
  const { metadata } = (tool ?? {}) as { metadata?: { annotations?: Record<string, unknown> | null } };
  const { readOnlyHint, idempotentHint } = metadata?.annotations ?? {};
  if (readOnlyHint === true) return "harmless";
  return idempotentHint === true ? "repeat" : undefined;
}
