import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { frontmatterIn, NAMED } from "../middleware/skills/index.ts";

/** The nearest folder with `.git`, from `startPath` upwards; null if there is none. Default: the current folder. */
export function findProjectRoot(startPath = process.cwd()): string | null {
  for (let at = resolve(startPath); ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return null;
  }
}

/** Options of `createSettings`. */
export interface SettingsOptions {
  /** Where to look for the project. Default: the current folder. */
  startPath?: string;
}

/**
 * The paths of memory and skills: `~/.deepagents/<agent>` of the user and `.deepagents` of the project.
 *
 * @example
 * ```ts
 * import { createSettings, listSkills } from "holdfast/deepagents";
 *
 * const settings = createSettings();
 * const userSkillsDir = settings.getUserSkillsDir("my-agent");
 * const skills = listSkills({ userSkillsDir, projectSkillsDir: settings.getProjectSkillsDir() });
 * ```
 */
export function createSettings({ startPath }: SettingsOptions = {}) {
  const projectRoot = findProjectRoot(startPath);
  const userDeepagentsDir = join(homedir(), ".deepagents");
  const agentDir = (name: string): string => {
    if (/^[\w -]+$/.test(name) && name.trim() !== "") return join(userDeepagentsDir, name);
    throw new HarnessError(
      "invalid-options",
      `"${name}" is no name of an agent; use letters, digits, - and _.`,
    );
  };
  const inProject = (...parts: string[]): string | null =>
    projectRoot === null ? null : join(projectRoot, ".deepagents", ...parts);
  return {
    projectRoot,
    userDeepagentsDir,
    hasProject: projectRoot !== null,
    getAgentDir: agentDir,
    ensureAgentDir: (name: string) => ensured(agentDir(name)),
    getUserAgentMdPath: (name: string) => join(agentDir(name), "agent.md"),
    getProjectAgentMdPath: () => inProject("agent.md"),
    getUserSkillsDir: (name: string) => join(agentDir(name), "skills"),
    ensureUserSkillsDir: (name: string) => ensured(join(agentDir(name), "skills")),
    getProjectSkillsDir: () => inProject("skills"),
    ensureProjectSkillsDir: () => ensured(inProject("skills")),
    ensureProjectDeepagentsDir: () => ensured(inProject()),
  };
}

/** The folders of a user and a project with agents' files. */
export type Settings = ReturnType<typeof createSettings>;

function ensured<Path extends string | null>(path: Path): Path {
  if (path !== null) mkdirSync(path, { recursive: true });
  return path;
}

/** The frontmatter of a skill. */
export const SKILL = NAMED.extend({
  license: z.coerce.string().optional(),
  compatibility: z.coerce.string().optional(),
  metadata: z.record(z.string(), z.coerce.string()).optional(),
  "allowed-tools": z.union([z.string(), z.array(z.string())]).optional(),
}).transform(({ "allowed-tools": tools, ...skill }) => ({
  ...skill,
  allowedTools: typeof tools === "string" ? tools.split(/[\s,]+/).filter(Boolean) : (tools ?? []),
}));

/** A skill in the result of `listSkills`. */
export interface SkillMetadata extends z.output<typeof SKILL> {
  /** The path of its `SKILL.md`. */
  path: string;
  source: "user" | "project";
}

/** The folders of skills. */
export interface ListSkillsOptions {
  userSkillsDir?: string | null;
  projectSkillsDir?: string | null;
}

/** The skills of the user and the project. A project's skill replaces a user's one of the same name. */
export function listSkills(folders: ListSkillsOptions): SkillMetadata[] {
  const skills = new Map<string, SkillMetadata>();
  for (const source of ["user", "project"] as const) {
    const folder = source === "user" ? folders.userSkillsDir : folders.projectSkillsDir;
    for (const name of folder && existsSync(folder) ? readdirSync(folder) : []) {
      const skill = parseSkillMetadata(join(folder!, name, "SKILL.md"), source);
      if (skill) skills.set(skill.name, skill);
    }
  }
  return [...skills.values()];
}

/** The frontmatter of a skill; null if there is no valid skill in the file. */
export function parseSkillMetadata(
  skillMdPath: string,
  source: SkillMetadata["source"],
): SkillMetadata | null {
  if (!existsSync(skillMdPath)) return null;
  const skill = frontmatterIn(readFileSync(skillMdPath, "utf8"), SKILL, parse);
  if (typeof skill === "string") return null;
  const { body: _, ...metadata } = skill;
  return { ...metadata, path: skillMdPath, source };
}
