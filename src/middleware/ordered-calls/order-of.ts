import { isPlanTool } from "../tools/index.ts";
import type { CallOrder } from "./options.ts";

/** `plan`: after all earlier calls; reads and sub-agents do not wait for it, as they do not see the plan. */
export type CallKind = CallOrder | "plan";

/** Holdfast's own tools. `ask_clarification` withholds the other calls of its turn itself. */
const OWN: Readonly<Record<string, CallKind>> = {
  ls: "read",
  read_file: "read",
  glob: "read",
  grep: "read",
  web_search: "read",
  web_fetch: "read",
  find_tools: "read",
  task: "parallel",
  ask_clarification: "free",
};

export function kindOf(name: string, tool: unknown, tools: Readonly<Record<string, CallOrder>>): CallKind {
  if (Object.hasOwn(tools, name)) return tools[name]!;
  if (Object.hasOwn(OWN, name)) return OWN[name]!;
  if (isPlanTool(tool)) return "plan";
  const { metadata } = (tool ?? {}) as { metadata?: { annotations?: Record<string, unknown> | null } };
  return metadata?.annotations?.["readOnlyHint"] === true ? "read" : "change";
}

/** The kinds of earlier calls that a call waits for. */
const FOLLOWED: Readonly<Record<CallKind, readonly CallKind[]>> = {
  read: ["change", "parallel"],
  change: ["read", "change", "parallel", "plan"],
  parallel: ["read", "change"],
  plan: ["read", "change", "parallel", "plan"],
  free: [],
};

export function mustFollow(kind: CallKind, earlier: CallKind): boolean {
  return FOLLOWED[kind].includes(earlier);
}
