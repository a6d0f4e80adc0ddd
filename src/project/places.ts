import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { defaultStatePath } from "../storage/index.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the user's own files are. */
export interface UserPlaces {
  home: string;
  /** The folder of the user's settings. */
  config: string;
  /** The file that says which folders are trusted. */
  trust: string;
}

export function userPlaces(env: Environment, platform: string = process.platform): UserPlaces {
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  const { XDG_CONFIG_HOME: given, APPDATA: roaming } = env;
  const folder =
    platform === "win32"
      ? roaming || join(home, "AppData", "Roaming")
      : given?.startsWith("/")
        ? given
        : join(home, ".config");
  return {
    home,
    config: join(folder, "holdfast"),
    trust: join(dirname(defaultStatePath(env, platform)), "trust.json"),
  };
}

/** A folder to work in, in its repository. Real paths. */
export interface ProjectPlaces {
  /** The root of the repository, or the folder itself. */
  root: string;
  /** The folders from the root down. */
  folders: readonly string[];
}

/** A home folder that is a repository, as for settings, is not what somebody works on. */
export async function projectPlaces(dir: string, { home }: Pick<UserPlaces, "home">): Promise<ProjectPlaces> {
  const here = await realpath(dir).catch(() => dir);
  const above = await realpath(home).catch(() => home);
  const folders = [here];
  for (let at = here; at !== above && dirname(at) !== at; at = dirname(at)) {
    if (await isRepository(at)) return { root: at, folders };
    folders.unshift(dirname(at));
  }
  return { root: here, folders: [here] };
}

/** An empty `.git` may stand in for one while a command is isolated. */
async function isRepository(folder: string): Promise<boolean> {
  const git = join(folder, ".git");
  const found = await stat(git).catch(() => undefined);
  return found?.isFile() === true || (await isThere(join(git, "HEAD")));
}

export function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Kinds of folders that other agents read, too. */
export type FolderKind = "skills" | "agents";

/** The folders of a kind in a home or a project; those of the later one count. */
export function foldersIn(folder: string, kind: FolderKind): string[] {
  return [join(folder, ".claude", kind), join(folder, ".agents", kind)];
}
