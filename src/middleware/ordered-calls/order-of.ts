import { isPlanTool } from "../tools/index.ts";
import type { CallOrder } from "./options.ts";

/** `plan`: after all earlier calls; no read and no sub-agent waits for it, as the plan is nothing that they see. */
export type CallKind = CallOrder | "plan";

/** Holdfast's own tools. A question to the user holds back the calls beside it itself. */
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
