import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isInside } from "../files/paths/inside.ts";
import { readSettings } from "./config.ts";
import { readInstructions, type InstructionFolder } from "./instructions.ts";
import { foldersIn, isThere, projectPlaces, type FolderKind, type UserPlaces } from "./places.ts";
import { fingerprintOf, Trust } from "./trust.ts";

/**
 * The user's decision about a folder: none yet, no, yes, or yes before its settings or servers changed. `none` if
 * there is no folder, or nothing in it that matters.
 */
export type TrustState = "none" | "unknown" | "refused" | "trusted" | "changed";

/** A file of settings as it was read, once: what is used is what the user said yes to. */
export interface SettingsFile {
  path: string;
  read: Awaited<ReturnType<typeof readSettings>>;
}

export async function settingsAt(path: string): Promise<SettingsFile> {
  return { path, read: await readSettings(path) };
}

/** A project's files in a repository, not used yet, and the user's decision about them. */
export interface Repository {
  /** Its real path. */
  root: string;
  config: SettingsFile | undefined;
  mcp: SettingsFile | undefined;
  /** The folders that instructions are looked for in, and the files that are there now. */
  instructions: InstructionFolder[];
  texts: string[];
  /** The folders with skills, and those with roles of sub-agents. */
  skills: string[];
  roles: string[];
  state: TrustState;
  /** Keeps that the user says yes to what is there now. */
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
    const areThere = await Promise.all(all.map(isThere));
    return all.filter((_, at) => areThere[at]);
  };
  const [skills, roles] = [await existing("skills"), await existing("agents")];
  const trust = new Trust(user.trust);
  const fingerprint = fingerprintOf([config, mcp]);
  const hasAny = config !== undefined || mcp !== undefined || [...texts, ...skills, ...roles].length > 0;
  const said = hasAny ? await trust.of(root) : undefined;
  const isSame = said?.fingerprint === fingerprint || (!config && !mcp);
  const answer = said === undefined ? "unknown" : !said.trusted ? "refused" : isSame ? "trusted" : "changed";
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

/** Undefined where there is no such file. One that a link leads out of the repository for is not read. */
async function settingsIn(root: string, name: string): Promise<SettingsFile | undefined> {
  const path = join(root, name);
  const real = await realpath(path).catch(() => undefined);
  // While a command is isolated, a folder may stand in for a file that is not there.
  if (real === undefined || (await stat(real).catch(() => undefined))?.isDirectory()) return undefined;
  return isInside(real, root) ? settingsAt(path) : { path, read: { note: `leads out of ${root}` } };
}
