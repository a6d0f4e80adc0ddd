import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { StateGraph, type StateDefinitionInit } from "@langchain/langgraph";
import { HarnessError } from "../errors.ts";
import { serversOf } from "../mcp/index.ts";
import { type FileToolChoice, FILE_ARGUMENTS } from "../middleware/files/index.ts";
import { readSkills } from "../middleware/skills/index.ts";
import { PLAN_TOOLS } from "../plan/presets/index.ts";
import {
  type CompiledSubagent,
  type SubagentTerms,
  READER_DESCRIPTION,
  READER_PROMPT,
} from "../subagents/index.ts";
import { webToolsOf, WEB_TOOLS } from "../web/index.ts";
import { DEFAULT_MIDDLEWARE, type AnyTool, type DeepAgentOptions, type SubagentSpec } from "./options.ts";

/** The options of a sub-agent: its own and, for the rest, its parent's. Throws `invalid-options` for an unknown tool name. */
export function inherited(
  spec: SubagentSpec,
  parent: DeepAgentOptions,
  model: BaseChatModel,
): DeepAgentOptions {
  const { permissions, stateSchema, interruptOn, middleware = [] } = spec;
  const replaced = (parent.middleware ?? []).filter(
    ({ name }) =>
      DEFAULT_MIDDLEWARE.some((one) => one === name) &&
      name !== "SubagentsMiddleware" &&
      middleware.every((own) => own.name !== name) &&
      !(name === "PlanMiddleware" && spec.plan !== undefined),
  );
  const systemPrompt = spec.systemPrompt ?? spec.prompt ?? promptOf(parent);
  const instructions = spec.instructions ?? parent.instructions;
  const { mayDelegate, ...tools } = toolsOf(spec, parent);
  return {
    ...picked(parent, INHERITED),
    ...tools,
    ...skillsOf(spec, parent),
    ...mcpOf(spec, parent),
    ...(!mayDelegate && { subagents: [], generalPurpose: false }),
    ...(permissions && { permissions }),
    ...(interruptOn && { interruptOn: { ...parent.interruptOn, ...interruptOn } }),
    stateSchema,
    name: spec.name,
    model,
    middleware: [...replaced, ...middleware],
    systemPrompt,
    instructions: typeof instructions === "object" ? instructions : undefined,
    responseFormat: spec.responseFormat,
  };
}

/** A compiled sub-agent with the options of its description. */
export function compiledOf(
  { name, description, timeLimit, budget, fork = false }: SubagentTerms,
  runnable: CompiledSubagent["runnable"],
): CompiledSubagent {
  return {
    name,
    description,
    runnable,
    ownsFiles: true,
    fork,
    timeLimit,
    budget,
  };
}

const INHERITED = [
  "without",
  "canExecute",
  "readFirst",
  "media",
  "backend",
  "skills",
  "skillsFolder",
  "permissions",
  "resultLimit",
  "resultFolder",
  "summarization",
  "interruptOn",
  "repeats",
  "loopGuard",
  "subagents",
  "generalPurpose",
  "fileTools",
  "maxConcurrency",
  "background",
  "maxDepth",
] as const satisfies readonly (keyof DeepAgentOptions)[];

type Tools = Pick<DeepAgentOptions, "tools" | "fileTools" | "web" | "plan"> & { mayDelegate: boolean };

function toolsOf(spec: SubagentSpec, parent: DeepAgentOptions): Tools {
  const listed = spec.tools ?? parent.tools;
  const own = listed?.filter((tool): tool is AnyTool => typeof tool !== "string");
  const names = listed?.filter((tool) => typeof tool === "string") ?? [];
  // A user who approves the main plan is not asked about the plan of every sub-agent.
  const plan = parent.plan === false ? false : { ...parent.plan, approval: "never" as const };
  if (names.length > 0) return namedTools(spec, parent, { names, own: own ?? [], plan });
  return {
    tools: own,
    ...picked(spec, ["fileTools"]),
    // A sub-agent with `tools` of its own has web tools only if it asks for them.
    ...((spec.web ?? !spec.tools) && picked(parent, ["web"])),
    plan: spec.plan ?? plan,
    mayDelegate: spec.subagents !== false,
  };
}

/** The tools of a sub-agent that names tools of its parent, and its own. Throws `invalid-options` for an unknown name. */
function namedTools(
  spec: SubagentSpec,
  parent: DeepAgentOptions,
  { names, own, plan }: { names: readonly string[]; own: AnyTool[]; plan: DeepAgentOptions["plan"] & {} },
): Tools {
  const isNamed = (name: unknown): boolean => names.some((one) => one === name);
  const { fileTools = Object.keys(FILE_ARGUMENTS) as FileToolChoice[] } = parent;
  const web = names.some((name) => WEB_TOOLS.includes(name)) ? webToolsOf(parent.web) : [];
  const parentTools = [...(parent.tools ?? []), ...web].filter((tool) => isNamed(toolName(tool)));
  const validNames = [
    ...Object.keys(FILE_ARGUMENTS),
    ...WEB_TOOLS,
    ...PLAN_TOOLS,
    "task",
    ...parentTools.map(toolName),
  ];
  const unknownName = names.find((name) => !validNames.includes(name));
  if (unknownName !== undefined) {
    const all = [...Object.keys(FILE_ARGUMENTS), ...WEB_TOOLS, ...(parent.tools ?? []).map(toolName)];
    const reason = `subagents.${spec.name}.tools names "${unknownName}", which does not exist; available: ${all.join(", ")}`;
    throw new HarnessError("invalid-options", `createDeepAgent: ${reason}.`);
  }
  return {
    tools: [...parentTools, ...own],
    fileTools:
      spec.fileTools ?? fileTools.filter((tool) => isNamed(typeof tool === "string" ? tool : tool.name)),
    ...(spec.web && picked(parent, ["web"])),
    plan: spec.plan ?? (names.some((name) => PLAN_TOOLS.has(name)) ? plan : false),
    mayDelegate: spec.subagents !== false && isNamed("task"),
  };
}

const toolName = (tool: AnyTool): string => String((tool as { name?: unknown }).name);

function skillsOf({ skills }: SubagentSpec, parent: DeepAgentOptions): Pick<DeepAgentOptions, "skills"> {
  if (!skills) return {};
  if (!("only" in skills)) return { skills };
  const { only } = skills;
  const chosen = async () =>
    (await readSkills(parent.skills ?? [])).skills.filter(({ name }) => only.includes(name));
  return { skills: parent.skills && only.length > 0 ? [chosen] : [] };
}

function mcpOf({ mcp, fork }: SubagentSpec, parent: DeepAgentOptions): Pick<DeepAgentOptions, "mcp"> {
  if (mcp === true || (mcp === undefined && fork)) return picked(parent, ["mcp"]);
  if (!mcp) return {};
  if (!("only" in mcp)) return { mcp };
  return parent.mcp ? { mcp: serversOf(parent.mcp, "createDeepAgent").named(mcp.only) } : {};
}

/** The application's system prompt, from `systemPrompt` or a text in `instructions`. */
export function promptOf({ systemPrompt, instructions }: DeepAgentOptions): DeepAgentOptions["systemPrompt"] {
  return systemPrompt ?? (typeof instructions === "string" ? instructions : undefined);
}

/** The options with these keys, without those that are undefined. */
export function picked<Key extends keyof DeepAgentOptions>(
  options: Pick<DeepAgentOptions, Key>,
  keys: readonly Key[],
): Pick<DeepAgentOptions, Key> {
  const entries = keys.flatMap((key) => (options[key] === undefined ? [] : [[key, options[key]] as const]));
  return Object.fromEntries(entries) as Pick<DeepAgentOptions, Key>;
}

const READING = ["ls", "read_file", "glob", "grep"];

/**
 * The built-in sub-agent `reader`: it reads files and the web, and has no plan, commands, writes, MCP servers or
 * sub-agents. Undefined if its caller has no tool to read files.
 */
export function readerOf({
  fileTools = READING as FileToolChoice[],
}: DeepAgentOptions): SubagentSpec | undefined {
  const nameOf = (tool: FileToolChoice): string => (typeof tool === "string" ? tool : tool.name);
  const own = fileTools.filter((tool) => READING.includes(nameOf(tool)));
  if (own.length === 0) return undefined;
  return {
    name: "reader",
    description: READER_DESCRIPTION,
    systemPrompt: READER_PROMPT,
    tools: [],
    fileTools: own,
    web: true,
    plan: false,
    instructions: [],
    skills: [],
    subagents: false,
  };
}

/** The state fields that a sub-agent shares with its parent. Throws `invalid-options` for one without a reducer. */
export function sharedFields(
  parent: StateDefinitionInit | undefined,
  own: StateDefinitionInit | undefined,
  name: string,
): string[] {
  if (parent === undefined || own === undefined) return [];
  const [parentChannels, ownChannels] = [channelsOf(parent), channelsOf(own)];
  const shared = Object.keys(ownChannels).filter(
    (field) => Object.hasOwn(parentChannels, field) && field !== "messages",
  );
  const unreduced = shared.find((field) => parentChannels[field]!.lc_graph_name !== REDUCED);
  if (unreduced === undefined) return shared;
  throw new HarnessError(
    "invalid-options",
    `createDeepAgent: subagents.${name} shares the field "${unreduced}", which has no reducer in the agent's stateSchema: several sub-agents may change it at the same time. Make it a ReducedValue.`,
  );
}

const REDUCED = "BinaryOperatorAggregate";

/** The channels of a state schema of any kind. */
function channelsOf(schema: StateDefinitionInit): Record<string, { lc_graph_name: string }> {
  const { channels } = new StateGraph(schema as never) as { channels: object };
  return channels as Record<string, { lc_graph_name: string }>;
}
