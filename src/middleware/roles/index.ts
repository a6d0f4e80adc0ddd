import { readdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { isInside, inOrder } from "../../files/paths/index.ts";
import { foreign } from "../../plan/render/index.ts";
import type { Limits } from "../budget/index.ts";
import { readText } from "../instructions/index.ts";
import { NAMED, readFrontmatter } from "../skills/index.ts";

/** A sub-agent described by a file: frontmatter with its prompt below. */
export interface Role {
  name: string;
  /** When to use it, for the model. */
  description: string;
  prompt: string;
  /** Names of tools. Default: those of the agent. */
  tools?: readonly string[];
  /** `provider:name`. Default: the agent's. */
  model?: string;
  /** Names of the agent's skills. Default: all of them. */
  skills?: { only: readonly string[] };
  /** The agent's MCP servers, or some of its servers and tools. Default: none. */
  mcp?: boolean | { only: readonly string[] };
  budget?: Pick<Limits, "modelCalls" | "tokens">;
  timeLimit?: number;
  /** Empty for a role whose `tools` name no tool but those of servers. */
  fileTools?: readonly [];
  plan?: false;
  subagents?: false;
}

/** The result of `readRoles`. */
export interface RolesRead {
  /** Roles sorted by name. Of two with one name, the later folder wins. */
  roles: Role[];
  /** A sentence for each file that was left out, with its path. */
  notes: string[];
  /** A sentence for each part of a file that was left out. */
  remarks: string[];
}

/** Options of `readRoles`. */
export interface RolesOptions {
  /** The folder that links must not leave. Default: the folder of the roles. */
  within?: string;
  /** Further tools that a role may name. */
  tools?: readonly string[];
  /** The names of existing skills. Default: any name is accepted. */
  skills?: readonly string[];
}

const LARGEST = 32 * 1024;

/**
 * Reads roles from the `*.md` files of folders. A file that cannot be used is a note and never an exception.
 *
 * @example
 * ```ts
 * import { createDeepAgent, readRoles } from "holdfast";
 *
 * const { roles, notes } = await readRoles([".agents/agents"]);
 * for (const note of notes) console.warn(note);
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", subagents: roles });
 * ```
 */
export async function readRoles(
  folders: readonly string[],
  { within, tools = [], skills }: RolesOptions = {},
): Promise<RolesRead> {
  const roles = new Map<string, Role>();
  const notes: string[] = [];
  const remarks: string[] = [];
  for (const folder of folders.map((one) => resolve(one))) {
    const inside = await realpath(within ?? folder).catch(() => folder);
    const names = await readdir(folder).catch((error: Error) => {
      notes.push(`${folder} cannot be read: ${error.message}.`);
      return [];
    });
    for (const name of names.filter((one) => one.endsWith(".md")).toSorted(inOrder)) {
      const path = join(folder, name);
      const role = await readRole(path, {
        inside,
        remark: (text) => remarks.push(`${path}: ${text}.`),
        tools,
        ...(skills && { skills }),
      });
      if (typeof role === "string") notes.push(`${path} ${role}.`);
      else roles.set(role.name, role);
    }
  }
  return { roles: [...roles.values()].toSorted((a, b) => inOrder(a.name, b.name)), notes, remarks };
}

const amount = z.number("must be a number").positive("must be above 0");
const names = (field: string) =>
  z.union(
    [z.string().transform((text) => text.split(",").map((name) => name.trim())), z.array(z.string())],
    `must be names of ${field}`,
  );

/** The frontmatter of a role. Other fields are ignored. */
const ROLE = NAMED.extend({
  name: z.string("is missing").regex(/^[\w-]{1,64}$/, "must be letters, digits, - and _"),
  tools: names("tools").nullish(),
  model: z.string("must be provider:name").nullish(),
  skills: names("skills").nullish(),
  mcp: z.union([z.boolean(), names("servers")], "must be true, false or names of servers").nullish(),
  budget: z
    .strictObject(
      { tokens: amount.optional(), calls: amount.optional(), minutes: amount.optional() },
      "must have tokens, calls or minutes",
    )
    .nullish(),
});

/** Our tools by the names that other agents have for them. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  Read: ["read_file"],
  Write: ["write_file"],
  Edit: ["edit_file"],
  MultiEdit: ["edit_file"],
  Glob: ["glob", "ls"],
  LS: ["ls"],
  Grep: ["grep"],
  Bash: ["execute"],
  WebFetch: ["web_fetch"],
  WebSearch: ["web_search"],
  TodoWrite: ["write_todos"],
  Task: ["task"],
};
/** The tools of a deep agent. A list of names, as their definitions would load LangChain. */
export const OWN_TOOLS = [
  "ls",
  "read_file",
  "write_file",
  "edit_file",
  "delete_file",
  "glob",
  "grep",
  "execute",
  "web_fetch",
  "web_search",
  "write_todos",
  "update_todos",
  "task",
];
const SERVER_TOOL = /^mcp__/;

interface RoleContext extends Pick<RolesOptions, "skills"> {
  inside: string;
  remark: (text: string) => void;
  tools: readonly string[];
}

async function readRole(
  path: string,
  { inside, remark, tools: more, skills: library }: RoleContext,
): Promise<Role | string> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return "cannot be read";
  if (!isInside(real, inside)) return `leads out of ${inside}, and was left out`;
  const file = await readText(real, LARGEST);
  if ("note" in file) return file.note;
  if (file.isCut) return `has more than ${LARGEST} bytes`;
  const frontmatter = await readFrontmatter(file.text, ROLE);
  if (typeof frontmatter === "string") return frontmatter;
  const { name, description, model, skills, budget, body } = frontmatter;
  const prompt = body.trim();
  if (prompt === "") return "has no prompt below its frontmatter";
  const toolNames = frontmatter.tools ?? undefined;
  const isKnown = (tool: string): boolean =>
    tool in ALIASES || OWN_TOOLS.includes(tool) || more.includes(tool);
  const serverTools = toolNames?.filter((tool) => SERVER_TOOL.test(tool)) ?? [];
  for (const tool of toolNames ?? []) {
    if (!isKnown(tool) && !SERVER_TOOL.test(tool)) remark(`there is no tool "${tool}"`);
  }
  for (const skill of skills ?? []) {
    if (library && !library.includes(skill)) remark(`there is no skill "${skill}"`);
  }
  const isModel = typeof model === "string" && model.includes(":");
  if (model && model !== "inherit" && !isModel)
    remark(`the model "${model}" is not provider:name; it has the agent's`);
  const mcp = Array.isArray(frontmatter.mcp)
    ? { only: [...frontmatter.mcp, ...serverTools] }
    : (frontmatter.mcp ?? (serverTools.length > 0 ? { only: serverTools } : undefined));
  const tools = toolNames?.filter(isKnown).flatMap((tool) => ALIASES[tool] ?? tool);
  const { tokens, calls, minutes } = budget ?? {};
  return {
    name,
    description,
    prompt: foreign(prompt),
    ...(tools && { tools: [...new Set(tools)] }),
    ...(tools?.length === 0 && { fileTools: [], plan: false, subagents: false }),
    ...(isModel && { model }),
    ...(skills && { skills: { only: skills } }),
    ...(mcp !== undefined && { mcp }),
    ...((tokens ?? calls) && {
      budget: { ...(tokens && { tokens }), ...(calls && { modelCalls: calls }) },
    }),
    ...(minutes && { timeLimit: minutes * 60_000 }),
  };
}
