import { readdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { isInside, inOrder } from "../../files/paths/index.ts";
import type { Limits } from "../budget/index.ts";
import { readText } from "../instructions/index.ts";
import { NAMED, readFrontmatter } from "../skills/index.ts";

/** A sub-agent described by a file: frontmatter, and its prompt below. */
export interface Role {
  name: string;
  /** Tells the model when to use it. */
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
  /** Empty for a role that names only tools of servers, or none that there is. */
  fileTools?: readonly [];
  plan?: false;
  subagents?: false;
}

/** The result of `readRoles`. */
export interface RolesRead {
  /** Roles by name. The later folder wins. */
  roles: Role[];
  /** Files that were left out, a sentence each, with the path. */
  notes: string[];
  /** Parts of files that were left out. */
  remarks: string[];
}

/** Options of `readRoles`. */
export interface RolesOptions {
  /** The folder that no link may lead out of. Default: the folder of the roles itself. */
  within?: string;
  /** Names of further tools that a role may name. */
  tools?: readonly string[];
  /** Names of the skills that there are. Default: any. */
  skills?: readonly string[];
}

const LARGEST = 32 * 1024;

/** Reads roles from the `*.md` files of folders. What cannot be used is a note and never a failure. */
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
      const read = await readRole(path, {
        inside,
        remark: (text) => remarks.push(`${path}: ${text}.`),
        tools,
        ...(skills && { skills }),
      });
      if (typeof read === "string") notes.push(`${path} ${read}.`);
      else roles.set(read.name, read);
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

/** Other fields are left to whoever understands them. */
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

/** The names of other agents for tools that are ours, too. */
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
/** Tools of a deep agent. Their definitions would load LangChain, which a look at a project need not. */
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
  const read = await readFrontmatter(file.text, ROLE);
  if (typeof read === "string") return read;
  const { name, description, model, skills, budget, body } = read;
  const prompt = body.trim();
  if (prompt === "") return "has no prompt below its frontmatter";
  const wanted = read.tools ?? undefined;
  const isKnown = (tool: string): boolean =>
    tool in ALIASES || OWN_TOOLS.includes(tool) || more.includes(tool);
  const served = wanted?.filter((tool) => SERVER_TOOL.test(tool)) ?? [];
  for (const tool of wanted ?? []) {
    if (!isKnown(tool) && !SERVER_TOOL.test(tool)) remark(`there is no tool "${tool}"`);
  }
  for (const skill of skills ?? []) {
    if (library && !library.includes(skill)) remark(`there is no skill "${skill}"`);
  }
  const isModel = typeof model === "string" && model.includes(":");
  if (model && model !== "inherit" && !isModel)
    remark(`the model "${model}" is not provider:name; it has the agent's`);
  const mcp = Array.isArray(read.mcp)
    ? { only: [...read.mcp, ...served] }
    : (read.mcp ?? (served.length > 0 ? { only: served } : undefined));
  const tools = wanted?.filter(isKnown).flatMap((tool) => ALIASES[tool] ?? tool);
  const { tokens, calls, minutes } = budget ?? {};
  return {
    name,
    description,
    prompt,
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
