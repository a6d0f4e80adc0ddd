import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isInside } from "../files/paths/index.ts";
import { parseConfig, parseJson, readSettings } from "./config.ts";
import { readInstructions, type InstructionFolder } from "./instructions.ts";
import { exists, foldersIn, projectPlaces, type FolderKind, type UserPlaces } from "./places.ts";
import { fingerprintOf, Trust } from "./trust.ts";

/**
 * The user's decision about a folder: `unknown` before one, `changed` if settings or servers differ from those that
 * were trusted, `none` if there is nothing to decide on.
 */
export type TrustState = "none" | "unknown" | "refused" | "trusted" | "changed";

/** The content of a settings file, read once, so that what is used is what the user trusted. */
export interface SettingsFile {
  path: string;
  read: Awaited<ReturnType<typeof readSettings>>;
}

export async function settingsAt(path: string): Promise<SettingsFile> {
  return { path, read: await readSettings(path) };
}

/** A project's files in a repository, and the user's decision about them. */
export interface Repository {
  /** The real path. */
  root: string;
  config: SettingsFile | undefined;
  mcp: SettingsFile | undefined;
  /** The folders that may contain instructions. */
  instructions: InstructionFolder[];
  /** The instruction files that exist now. */
  texts: string[];
  /** Folders with skills. */
  skills: string[];
  /** Folders with roles of sub-agents. */
  roles: string[];
  state: TrustState;
  /** Stores that the user trusts the present files. */
  accept: () => Promise<void>;
}

export async function repositoryOf(dir: string, user: UserPlaces): Promise<Repository> {
  const { root, folders } = await projectPlaces(dir, user);
  const config = await settingsIn(root, ".holdfast/config.json");
  const mcp = await settingsIn(root, ".mcp.json");
  const instructions = folders.map((path): InstructionFolder => ({ path, within: root, shownFrom: root }));
  const texts = (await readInstructions(instructions)).files.map(({ path }) => path);
  const existing = async (kind: FolderKind): Promise<string[]> => {
    const all = folders.flatMap((folder) => foldersIn(folder, kind));
    const present = await Promise.all(all.map(exists));
    return all.filter((_, at) => present[at]);
  };
  const [skills, roles] = [await existing("skills"), await existing("agents")];
  const trust = new Trust(user.trust);
  const fingerprint = fingerprintOf([config, mcp]);
  const hasAny = config !== undefined || mcp !== undefined || [...texts, ...skills, ...roles].length > 0;
  const decision = hasAny ? await trust.of(root) : undefined;
  const isSame = decision?.fingerprint === fingerprint || (!config && !mcp);
  const answer =
    decision === undefined ? "unknown" : !decision.trusted ? "refused" : isSame ? "trusted" : "changed";
  return {
    root,
    config,
    mcp,
    instructions,
    texts,
    skills,
    roles,
    state: hasAny ? answer : "none",
    accept: () => trust.say(root, true, fingerprint),
  };
}

/** Reads a settings file; undefined if there is none. A link that leads out of the repository is not followed. */
async function settingsIn(root: string, name: string): Promise<SettingsFile | undefined> {
  const path = join(root, name);
  const real = await realpath(path).catch(() => undefined);
  // Isolation may put a folder in the place of a missing file while a command runs.
  if (real === undefined || (await stat(real).catch(() => undefined))?.isDirectory()) return undefined;
  return isInside(real, root) ? settingsAt(path) : { path, read: { note: `leads out of ${root}` } };
}

/** The most displayed characters of one server's command. */
const MAX_COMMAND = 300;

/** Describes, for the user who decides, what the settings and servers of a repository would start, allow and set. */
export function offersOf({ config, mcp }: Pick<Repository, "config" | "mcp">): string[] {
  const lines: string[] = [];
  const parsed = <T>(
    file: SettingsFile | undefined,
    parse: (text: string, path: string) => T,
  ): T | undefined => {
    if (!file || "note" in file.read) return undefined;
    try {
      return parse(file.read.text, file.path);
    } catch (error) {
      lines.push(`cannot be used: ${(error as Error).message}`);
      return undefined;
    }
  };
  const settings = parsed(config, parseConfig) ?? {};
  const { mcpServers } = (parsed(mcp, parseJson) ?? {}) as { mcpServers?: unknown };
  const servers = { ...settings.mcp, ...(typeof mcpServers === "object" ? mcpServers : {}) };
  lines.push(...Object.entries(servers).map(([name, server]) => serverLine(name, server)));
  const { mode, allow = [], ask = [], deny = [], sandbox, network, origins = [], model } = settings;
  if (mode !== undefined) lines.push(`sets mode ${mode}${mode === "auto" ? ": nothing is asked for" : ""}`);
  if (allow.length > 0) lines.push(`allows without asking: ${allow.join(", ")}`);
  if (ask.length > 0) lines.push(`asks for: ${ask.join(", ")}`);
  if (deny.length > 0) lines.push(`denies: ${deny.join(", ")}`);
  if (sandbox === "never") lines.push("runs commands without isolation");
  if (network === true) lines.push("lets isolated commands reach the network");
  if (origins.length > 0) lines.push(`lets web_fetch reach ${origins.join(", ")}`);
  if (model !== undefined) lines.push(`uses the model ${model}`);
  return lines;
}

function serverLine(name: string, server: unknown): string {
  const { command, args, url, env } = (server ?? {}) as Record<string, unknown>;
  if (typeof command !== "string") return `connects the MCP server ${name} to ${String(url)}`;
  const words = [command, ...(Array.isArray(args) ? args.map(String) : [])].join(" ");
  const rest = words.length - MAX_COMMAND;
  const text = rest > 0 ? `${words.slice(0, MAX_COMMAND)}… and ${rest} more characters` : words;
  const variables = Object.keys(env ?? {});
  return `starts the MCP server ${name}: ${text}${variables.length > 0 ? ` (with ${variables.join(", ")})` : ""}`;
}
