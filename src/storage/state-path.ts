import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/**
 * The default path of the thread store: in the platform's folder for program state.
 *
 * @example
 * ```ts
 * import { defaultStatePath, sqliteSaver } from "holdfast/storage";
 *
 * const checkpointer = await sqliteSaver(defaultStatePath());
 * ```
 */
export function defaultStatePath(
  env: Record<string, string | undefined> = process.env,
  platform: string = process.platform,
): string {
  const path = platform === "win32" ? win32 : posix;
  return path.join(stateFolder(env, platform), "holdfast", "threads.db");
}

function stateFolder(env: Record<string, string | undefined>, platform: string): string {
  if (platform === "win32") {
    return env["LOCALAPPDATA"] || win32.join(env["USERPROFILE"] || homedir(), "AppData", "Local");
  }
  const home = env["HOME"] || homedir();
  if (platform === "darwin") return posix.join(home, "Library", "Application Support");
  const { XDG_STATE_HOME: folder } = env;
  // The specification tells programs to ignore a path that is not absolute.
  return folder?.startsWith("/") ? folder : posix.join(home, ".local", "state");
}
