import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { defaultStatePath } from "../storage/index.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Paths of the user's own files. */
export interface UserPlaces {
  home: string;
  config: string;
  /** The file with the decisions about folders. */
  trust: string;
}

export function userPlaces(env: Environment, platform: string = process.platform): UserPlaces {
  const home = env["HOME"] || env["USERPROFILE"] || homedir();
  const { XDG_CONFIG_HOME: configHome, APPDATA: roaming } = env;
  const folder =
    platform === "win32"
      ? roaming || join(home, "AppData", "Roaming")
      : configHome?.startsWith("/")
        ? configHome
        : join(home, ".config");
  return {
    home,
    config: join(folder, "holdfast"),
    trust: join(dirname(defaultStatePath(env, platform)), "trust.json"),
  };
}

/**
 * Finds the root of the repository of a folder (the folder itself if there is none), and the folders from the root down
 * to it, as real paths. A home folder that is a repository, as for dotfiles, does not count.
 */
export async function projectPlaces(
  dir: string,
  { home }: Pick<UserPlaces, "home">,
): Promise<{ root: string; folders: readonly string[] }> {
  const here = await realpath(dir).catch(() => dir);
  const above = await realpath(home).catch(() => home);
  const folders = [here];
  for (let at = here; at !== above && dirname(at) !== at; at = dirname(at)) {
    if (await isRepository(at)) return { root: at, folders };
    folders.unshift(dirname(at));
  }
  return { root: here, folders: [here] };
}

/** Isolation may put an empty `.git` there while a command runs, which does not count. */
async function isRepository(folder: string): Promise<boolean> {
  const git = join(folder, ".git");
  const stats = await stat(git).catch(() => undefined);
  return stats?.isFile() === true || (await exists(join(git, "HEAD")));
}

export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Kinds of folders that are shared with other agents. */
export type FolderKind = "skills" | "agents";

/** The folders of a kind in a home or a project. On equal names, the later folder wins. */
export function foldersIn(folder: string, kind: FolderKind): string[] {
  return [join(folder, ".claude", kind), join(folder, ".agents", kind)];
}
