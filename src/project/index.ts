import { join } from "node:path";
import { HarnessError } from "../errors.ts";
import { isInside } from "../files/paths/index.ts";
import { readRoles, type Role } from "../middleware/roles/index.ts";
import { readSkills, type Skill } from "../middleware/skills/index.ts";
import { MODES } from "../vocabulary.ts";
import { parseConfig, parseJson, type Config } from "./config.ts";
import { readInstructions, type InstructionFolder } from "./instructions.ts";
import { PinnedTools } from "./pinned-tools.ts";
import { foldersIn, exists, projectPlaces, userPlaces, type Environment } from "./places.ts";
import { offersOf, repositoryOf, settingsAt, type SettingsFile, type TrustState } from "./repository.ts";
import { Trust } from "./trust.ts";

/** A settings, instruction, skill or server file, and whether it is used. */
export interface ProjectFile {
  path: string;
  kind: "config" | "instructions" | "skills" | "agents" | "mcp";
  isUsed: boolean;
  /** Left out because the folder is not trusted. */
  isUntrusted?: boolean;
  /** What the file contributes, or why it is left out. */
  says: string;
}

/** Settings, instructions, skills and servers of the user and of the project. */
export interface Project {
  /** The real path of the repository. */
  root?: string;
  trust: TrustState;
  files: ProjectFile[];
  /** The user's settings, overlaid with those of the project if it is trusted. */
  config: Config;
  /** Reads all instructions again. */
  instructions: () => Promise<string>;
  skills: Skill[];
  /** Sub-agents defined in files. */
  roles: Role[];
  /** Lines on what the untrusted files would start, allow and set. */
  offers: string[];
  /** The servers to start, as in `.mcp.json`; not validated. */
  mcp: { mcpServers: Record<string, unknown> };
}

export interface ProjectOptions {
  /** The folder to work in. Without one, only the user's own files are read. */
  dir?: string;
  env: Environment;
  /** `false` ignores the project, `trust` trusts it from now on. Default: the stored decision. */
  use?: boolean | "trust";
}

/**
 * Reads the files of a user and of a project that configure agents. Files of a repository are used only if the user
 * trusts it; its settings and servers only if they have not changed since. Throws `invalid-options` for settings that
 * cannot be used; other problems are reported in `files`.
 */
export async function openProject({ dir, env, use = true }: ProjectOptions): Promise<Project> {
  const user = userPlaces(env);
  const files: ProjectFile[] = [];
  const userFile = join(user.config, "config.json");
  const own = (await exists(userFile)) ? configOf(await settingsAt(userFile), files) : {};
  const userInstructions: InstructionFolder = {
    path: user.config,
    shownFrom: user.home,
    shownAs: isInside(user.config, user.home) ? "~" : undefined,
  };
  const repository = dir === undefined || use === false ? undefined : await repositoryOf(dir, user);
  let state = repository?.state ?? "none";
  if (use === "trust" && repository && state !== "none") {
    await repository.accept();
    state = "trusted";
  }
  const isTrusted = state === "trusted" || state === "changed";

  const untrusted = (path: string, kind: ProjectFile["kind"]): ProjectFile => ({
    path,
    kind,
    isUsed: false,
    isUntrusted: true,
    says: WHY[state],
  });

  const folders = [userInstructions, ...(isTrusted ? repository!.instructions : [])];
  for (const { path, isUsed, note = "in the prompt" } of (await readInstructions(folders)).files) {
    files.push({ path, kind: "instructions", isUsed, says: note });
  }
  if (!isTrusted) files.push(...(repository?.texts ?? []).map((path) => untrusted(path, "instructions")));

  const within = repository?.root ?? "/";
  const skills = await skillsOf(foldersIn(user.home, "skills"), { within: "/", files });
  if (isTrusted) skills.push(...(await skillsOf(repository!.skills, { within, files })));
  const roles = await rolesOf(foldersIn(user.home, "agents"), { within: "/", files, skills });
  if (isTrusted) roles.push(...(await rolesOf(repository!.roles, { within, files, skills })));
  else {
    files.push(...(repository?.skills ?? []).map((path) => untrusted(path, "skills")));
    files.push(...(repository?.roles ?? []).map((path) => untrusted(path, "agents")));
  }

  let config = own;
  const servers: Record<string, unknown> = { ...own.mcp };
  if (repository?.config !== undefined) {
    if (state === "trusted") {
      const settings = configOf(repository.config, files);
      config = merged(own, settings);
      Object.assign(servers, settings.mcp);
    } else {
      files.push(untrusted(repository.config.path, "config"));
      // Stricter rules apply without consent.
      if (state === "changed") config = tightened(own, repository.config);
    }
  }
  if (repository?.mcp !== undefined) {
    if (state === "trusted") Object.assign(servers, serversOf(repository.mcp, files));
    else files.push(untrusted(repository.mcp.path, "mcp"));
  }

  return {
    root: repository?.root,
    trust: state,
    files,
    config,
    instructions: async () => (await readInstructions(folders)).text,
    skills,
    roles: [...new Map(roles.map((role) => [role.name, role])).values()],
    offers: repository && state !== "trusted" ? offersOf(repository) : [],
    mcp: { mcpServers: servers },
  };
}

/** Stores whether the user trusts a folder's project. Returns its root. */
export async function sayTrust(dir: string, trusted: boolean, env: Environment): Promise<string> {
  const repository = await repositoryOf(dir, userPlaces(env));
  if (trusted) {
    await repository.accept();
    await new PinnedTools(repository.root, env).forget();
  } else await new Trust(userPlaces(env).trust).say(repository.root, false);
  return repository.root;
}

/** Deletes the decision about a folder, which need not exist. Returns its root; undefined if there was no decision. */
export async function forgetTrust(dir: string, env: Environment): Promise<string | undefined> {
  const user = userPlaces(env);
  const trust = new Trust(user.trust);
  const { root } = await projectPlaces(dir, user);
  return (await trust.forget(root)) ? root : undefined;
}

/** The folders that the user trusts. */
export function trustedFolders(env: Environment): Promise<string[]> {
  return new Trust(userPlaces(env).trust).trusted();
}

const UNTRUSTED = "left out: the folder is not trusted (holdfast trust)";
const WHY: Record<TrustState, string> = {
  none: "left out",
  unknown: UNTRUSTED,
  refused: UNTRUSTED,
  changed: "left out: changed since the folder was trusted (look at it, then holdfast trust)",
  trusted: "used",
};

function configOf({ path, read }: SettingsFile, files: ProjectFile[]): Config {
  if ("note" in read) {
    files.push({ path, kind: "config", isUsed: false, says: `left out: ${read.note}` });
    return {};
  }
  const config = parseConfig(read.text, path);
  const keys = Object.keys(config).filter((key) => key !== "$schema");
  files.push({ path, kind: "config", isUsed: true, says: `sets ${keys.join(", ") || "nothing"}` });
  return config;
}

/** The user's settings, with the stricter rules and mode of settings that are not trusted. */
function tightened(own: Config, { path, read }: SettingsFile): Config {
  if ("note" in read) return own;
  const { ask = [], deny = [], mode } = parseConfig(read.text, path);
  // Without a mode of the user's, each surface has a default of `edits` or stricter.
  const isStricter = mode !== undefined && MODES.indexOf(mode) < MODES.indexOf(own.mode ?? "edits");
  return {
    ...own,
    ask: [...(own.ask ?? []), ...ask],
    deny: [...(own.deny ?? []), ...deny],
    ...(isStricter && { mode }),
  };
}

/** The project's settings over the user's; rules, prices and servers are combined. */
function merged(own: Config, project: Config): Config {
  const both = (key: "allow" | "ask" | "deny" | "origins") => [...(own[key] ?? []), ...(project[key] ?? [])];
  return {
    ...own,
    ...project,
    allow: both("allow"),
    ask: both("ask"),
    deny: both("deny"),
    origins: both("origins"),
    prices: { ...own.prices, ...project.prices },
    mcp: { ...own.mcp, ...project.mcp },
  };
}

function serversOf({ path, read }: SettingsFile, files: ProjectFile[]): Record<string, unknown> {
  const report = (says: string, isUsed: boolean): void =>
    void files.push({ path, kind: "mcp", isUsed, says });
  if ("note" in read) {
    report(`left out: ${read.note}`, false);
    return {};
  }
  try {
    const { mcpServers: servers } = (parseJson(read.text, path) ?? {}) as { mcpServers?: unknown };
    if (typeof servers !== "object" || servers === null || Array.isArray(servers)) {
      report("left out: it has no mcpServers", false);
      return {};
    }
    report(`servers: ${Object.keys(servers).join(", ") || "none"}`, true);
    return { ...servers };
  } catch (error) {
    report(`left out: ${HarnessError.from(error)?.message ?? String(error)}`, false);
    return {};
  }
}

async function skillsOf(
  roots: readonly string[],
  { within, files }: { within: string; files: ProjectFile[] },
): Promise<Skill[]> {
  const all: Skill[] = [];
  for (const root of roots) {
    if (!(await exists(root))) continue;
    const { skills, notes } = await readSkills([root], { within });
    all.push(...skills);
    const names = skills.map(({ name }) => name).join(", ") || "none that can be used";
    files.push({ path: root, kind: "skills", isUsed: skills.length > 0, says: names });
    for (const note of notes) files.push({ path: root, kind: "skills", isUsed: false, says: note });
  }
  return all;
}

async function rolesOf(
  folders: readonly string[],
  { within, files, skills }: { within: string; files: ProjectFile[]; skills: readonly Skill[] },
): Promise<Role[]> {
  const names = skills.map(({ name }) => name);
  const all: Role[] = [];
  for (const folder of folders) {
    if (!(await exists(folder))) continue;
    const { roles, notes, remarks } = await readRoles([folder], { within, skills: names });
    all.push(...roles);
    const says = roles.map(({ name }) => name).join(", ") || "none that can be used";
    files.push({ path: folder, kind: "agents", isUsed: roles.length > 0, says });
    for (const note of notes) files.push({ path: folder, kind: "agents", isUsed: false, says: note });
    for (const remark of remarks) files.push({ path: folder, kind: "agents", isUsed: true, says: remark });
  }
  return all;
}

export { type Config, parseConfig } from "./config.ts";
export { Allowed } from "./allowed.ts";
export { PinnedTools } from "./pinned-tools.ts";
export { type Environment, userPlaces } from "./places.ts";
export { moves, plainCommands, type PlainCommand } from "./commands.ts";
export { allowing, catching, compileRule, isRule, RULE, type Rule, type RuledCall } from "./rules.ts";
export { rewrite, UserFile } from "./user-file.ts";
